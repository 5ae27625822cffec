// Asks for confirmation before data is lost. Where much is lost, the answer is typed. `ClearAll` removes everything of
// one kind that the engine has stored.

import { AlertDialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { Button } from '../inputs/button.tsx';
import { Field, Input } from '../inputs/field.tsx';
import { useFocusBack } from '../layout/overlays.tsx';
import { ErrorCard } from './error-card.tsx';

export interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** The label of the action: "Delete 12 keys". */
  readonly action: string;
  /** The text to type where a click is not enough. */
  readonly typed?: string;
  /** Nothing is lost: the button has no warning colour. */
  readonly harmless?: boolean;
  readonly run: () => Promise<unknown>;
}

export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const focusBack = useFocusBack();
  return (
    <AlertDialog.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-ground/75" />
        <AlertDialog.Content
          {...focusBack}
          className={
            'fixed top-1/2 left-1/2 z-50 flex w-[420px] max-w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 ' +
            'flex-col gap-3 rounded-lg border border-line bg-panel p-4 shadow-float'
          }
        >
          <ConfirmBody {...props} />
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

function ConfirmBody({
  title,
  children,
  action,
  typed,
  harmless = false,
  run,
  onClose,
}: ConfirmDialogProps): ReactNode {
  const [text, setText] = useState('');
  const [state, setState] = useState<{ running: boolean; error?: unknown }>({ running: false });
  const act = async (): Promise<void> => {
    setState({ running: true });
    try {
      await run();
      onClose();
    } catch (error) {
      setState({ running: false, error });
    }
  };
  return (
    <>
      <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
      <AlertDialog.Description asChild>
        <div className="text-muted">{children}</div>
      </AlertDialog.Description>
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`}>
          {(ids) => <Input {...ids} value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
      )}
      {state.error !== undefined && <ErrorCard error={state.error} />}
      <div className="flex justify-end gap-2">
        <AlertDialog.Cancel asChild>
          <Button>Cancel</Button>
        </AlertDialog.Cancel>
        <Button
          look={harmless ? 'primary' : 'danger'}
          disabled={state.running || (typed !== undefined && text !== typed)}
          onClick={() => void act()}
        >
          {action}
        </Button>
      </div>
    </>
  );
}

export interface ClearAllProps {
  readonly what: 'logs' | 'traces';
  readonly onCleared: () => void;
  /** What is removed, and what stays. */
  readonly children: ReactNode;
}

export function ClearAll({ what, onCleared, children }: ClearAllProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  if (useReadOnly()) return undefined;
  return (
    <>
      <Button look="ghost" onClick={() => setAsking(true)}>
        Clear all
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Clear all ${what}?`}
        action={`Clear all ${what}`}
        run={async () => {
          await call(`DELETE /${what}`);
          onCleared();
        }}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
