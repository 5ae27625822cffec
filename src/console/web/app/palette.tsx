// The command palette (KEY-2): finds every named object and runs every action. Loaded when it is first opened.

import { useNavigate, useRouter } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { type ReactNode, type RefObject, useState } from 'react';
import { useReadOnly } from '../data/console-info.ts';
import { readView, useSavedViews } from '../data/saved-views.ts';
import { toast } from '../kit/feedback/toast-store.ts';
import { useFocusBack } from '../kit/layout/focus-back.ts';
import { CommandBox, Item } from './command-box.tsx';
import { type Action, pageActions, pastedAction } from './palette-actions.ts';
import { PALETTE_FRAME } from './palette-coming.tsx';
import { usePaletteGroups } from './palette-items.ts';
import { bestMatches } from './palette-match.ts';
import { DeleteView, NameView } from './view-dialogs.tsx';

export interface PaletteProps {
  /** What was typed before the palette was loaded. */
  readonly typed: RefObject<string>;
  readonly onClose: () => void;
}

/** The palette starts with a search. Saving the current view and deleting a view are later steps (APP-12). */
type Step = { readonly kind: 'find' } | { readonly kind: 'name' } | { readonly kind: 'delete'; readonly view: string };

export default function Palette({ typed, onClose }: PaletteProps): ReactNode {
  const focusBack = useFocusBack();
  const [step, setStep] = useState<Step>({ kind: 'find' });
  const views = useSavedViews();
  if (step.kind === 'delete') return <DeleteView name={step.view} onClose={onClose} />;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-ground/75" />
        <Dialog.Content aria-describedby={undefined} className={PALETTE_FRAME} {...focusBack}>
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          {step.kind === 'name' ? (
            <NameView names={views ?? []} onClose={onClose} />
          ) : (
            <Finder {...{ typed, views, setStep, onClose }} />
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface FinderProps extends PaletteProps {
  readonly views: readonly string[] | undefined;
  readonly setStep: (step: Step) => void;
}

function Finder({ typed, views, setStep, onClose }: FinderProps): ReactNode {
  const navigate = useNavigate();
  const [text, setText] = useState(typed.current);
  const groups = usePaletteGroups(text);
  const [ofPage] = useState(pageActions);
  const go = (to: string, search: Readonly<Record<string, string>> = {}): void => {
    onClose();
    void navigate({ to, search });
  };
  const pasted = pastedAction(text, go);
  const wanted = text.trim().toLowerCase();
  const invokes = (groups.find(({ title }) => title === 'Functions')?.items ?? []).slice(0, 3).map(({ name }) => ({
    name: `Invoke ${name}`,
    run: () => go('/functions', { id: name }),
  }));
  const { saved, actions: viewActions } = useViewActions({ views, setStep, onClose });
  const closing = ofPage.map(({ run, ...rest }) => ({ ...rest, run: () => [onClose(), run()] }));
  const actions = [...closing, ...viewActions, ...(wanted === '' ? [] : invokes)];
  return (
    <CommandBox
      label="Search and commands"
      placeholder="Pages, functions, traces, actions…"
      {...{ text, setText }}
      empty="Nothing matches."
    >
      {pasted !== undefined && <ActionGroup title="Pasted" actions={[pasted]} />}
      <ActionGroup title="Saved views" actions={bestMatches(saved, ({ name }) => name, wanted, 6)} />
      {groups.map(({ title, items }) => (
        <Command.Group key={title} heading={title}>
          {items.map(({ key, name, note, to, search }) => (
            <Item key={key} value={key} name={name} note={note} run={() => go(to, search)} />
          ))}
        </Command.Group>
      ))}
      <ActionGroup title="Actions" actions={bestMatches(actions, ({ name }) => name, wanted, 6)} />
    </CommandBox>
  );
}

function ActionGroup({ title, actions }: { readonly title: string; readonly actions: readonly Action[] }): ReactNode {
  if (actions.length === 0) return undefined;
  return (
    <Command.Group heading={title}>
      {actions.map(({ name, note, run }) => (
        <Item key={name} value={`${title} ${name}`} name={name} note={note} run={run} />
      ))}
    </Command.Group>
  );
}

/** Names that lead to a page, and actions on names. */
function useViewActions({ views, setStep, onClose }: Omit<FinderProps, 'typed'>): {
  readonly saved: readonly Action[];
  readonly actions: readonly Action[];
} {
  const { history } = useRouter();
  const mayChange = !useReadOnly();
  const open = (view: string): void => {
    onClose();
    readView(view).then(
      (address) => history.push(address),
      (error: Error) => toast({ tone: 'bad', text: error.message }),
    );
  };
  // Without the state module a name cannot be stored.
  if (views === undefined) return { saved: [], actions: [] };
  const changes = [
    { name: 'Save this view', run: () => setStep({ kind: 'name' }) },
    ...views.map((view) => ({ name: `Delete the view ${view}`, run: () => setStep({ kind: 'delete', view }) })),
  ];
  return { saved: views.map((name) => ({ name, run: () => open(name) })), actions: mayChange ? changes : [] };
}
