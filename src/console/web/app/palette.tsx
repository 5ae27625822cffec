// The command palette (KEY-2): finds every named object and runs every action. It also saves the current address as a
// view, and deletes views (APP-12). Loaded when it is first opened.

import { useNavigate, useRouter } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useReadOnly } from '../data/connection.ts';
import { deleteView, readView, saveView, useSavedViews } from '../data/saved-views.ts';
import { ConfirmDialog } from '../kit/feedback/confirm.tsx';
import { toast } from '../kit/feedback/toast.tsx';
import { visibleText } from '../kit/json/logic/visible-text.ts';
import { useFocusBack } from '../kit/layout/overlays.tsx';
import { PALETTE_FRAME, PALETTE_INPUT } from './palette-coming.tsx';
import { type Action, pageActions, pastedAction, usePaletteGroups } from './palette-items.ts';
import { bestMatches } from './palette-match.ts';

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

const GROUP =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 ' +
  '[&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted';
const ITEM =
  'flex h-8 items-center gap-3 rounded-md px-2 data-[selected=true]:bg-accent-fill ' +
  'data-[selected=true]:text-on-accent [&[data-selected=true]_*]:text-on-accent';

export interface CommandBoxProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Shown where there are no entries. */
  readonly empty: string;
  readonly children: ReactNode;
}

function CommandBox({ label, placeholder = label, text, setText, empty, children }: CommandBoxProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  return (
    <Command label={label} loop shouldFilter={false}>
      <Command.Input
        autoFocus
        value={text}
        onValueChange={(value) => [setText(value), list.current?.scrollTo(0, 0)]}
        placeholder={placeholder}
        className={PALETTE_INPUT}
      />
      <Command.List ref={list} className={`max-h-[56dvh] overflow-y-auto p-2 ${GROUP}`}>
        <Command.Empty className="p-6 text-center text-muted">{empty}</Command.Empty>
        {children}
      </Command.List>
    </Command>
  );
}

export interface ItemProps {
  readonly value: string;
  readonly name: string;
  readonly note?: string | undefined;
  readonly run: () => void;
}

function Item({ value, name, note, run }: ItemProps): ReactNode {
  return (
    <Command.Item value={value} onSelect={run} className={ITEM}>
      <span className="min-w-0 flex-1 truncate">{visibleText(name)}</span>
      {note !== undefined && (
        <span className="max-w-[40%] shrink-0 truncate text-sm text-faint">{visibleText(note)}</span>
      )}
    </Command.Item>
  );
}

const NAME_MAX = 128;

export interface NameViewProps {
  readonly names: readonly string[];
  readonly onClose: () => void;
}

function NameView({ names, onClose }: NameViewProps): ReactNode {
  const [text, setText] = useState('');
  const [address] = useState(() => location.pathname + location.search);
  const name = text.trim().slice(0, NAME_MAX);
  const isTaken = names.includes(name);
  const save = (): void => {
    onClose();
    saveView(name, address, isTaken).then(
      () => toast({ tone: 'good', text: `View saved: ${visibleText(name)}` }),
      (error: Error) => toast({ tone: 'bad', text: `The view was not saved: ${error.message}` }),
    );
  };
  return (
    <CommandBox label="Name of this view" {...{ text, setText }} empty="Type a name for what this page shows now.">
      {name !== '' && (
        <Command.Group heading="For all users of this engine">
          <Item value="save" name={`${isTaken ? 'Replace the view' : 'Save as'} ${name}`} note={address} run={save} />
        </Command.Group>
      )}
    </CommandBox>
  );
}

export interface DeleteViewProps {
  readonly name: string;
  readonly onClose: () => void;
}

function DeleteView({ name, onClose }: DeleteViewProps): ReactNode {
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Delete the view ${visibleText(name)}?`}
      action="Delete the view"
      run={() => deleteView(name)}
    >
      The view is deleted for all users of this engine. The data that it shows stays.
    </ConfirmDialog>
  );
}
