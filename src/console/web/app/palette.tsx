// The command palette (KEY-2): everything that has a name, and everything that can be done where one is. Loaded when it
// is first opened.

import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Dialog } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { preferences, setPreference } from '../data/preferences.ts';
import { copyText } from '../kit/clipboard.ts';
import { useFocusBack } from '../kit/focus-back.ts';
import { bestMatches, receiptIn, traceIdIn } from '../logic/palette-match.ts';
import { visibleText } from '../logic/visible-text.ts';
import { bindings } from './keys.ts';
import { usePaletteGroups } from './palette-items.ts';

const CONTENT =
  'fixed top-[12vh] left-1/2 z-50 w-[600px] max-w-[calc(100vw-32px)] -translate-x-1/2 overflow-hidden rounded-lg ' +
  'border border-line bg-panel shadow-float';
const GROUP =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 ' +
  '[&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted';
const ITEM =
  'flex h-8 items-center gap-3 rounded-md px-2 data-[selected=true]:bg-accent-fill ' +
  'data-[selected=true]:text-on-accent [&[data-selected=true]_*]:text-on-accent';

export interface PaletteProps {
  readonly onClose: () => void;
}

interface Action {
  readonly name: string;
  readonly note?: string;
  readonly run: () => void;
}

export default function Palette({ onClose }: PaletteProps): ReactNode {
  const navigate = useNavigate();
  const focusBack = useFocusBack();
  const [text, setText] = useState('');
  const groups = usePaletteGroups(text);
  const [actions] = useState(pageActions);
  const list = useRef<HTMLDivElement>(null);
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
  const shown = bestMatches([...actions, ...(wanted === '' ? [] : invokes)], ({ name }) => name, wanted, 6);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-ground/75" />
        <Dialog.Content aria-describedby={undefined} className={CONTENT} {...focusBack}>
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command label="Search and commands" loop shouldFilter={false}>
            <Command.Input
              value={text}
              onValueChange={(value) => [setText(value), list.current?.scrollTo(0, 0)]}
              placeholder="Pages, functions, traces, actions…"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-lg -outline-offset-2"
            />
            <Command.List ref={list} className={`max-h-[56dvh] overflow-y-auto p-2 ${GROUP}`}>
              <Command.Empty className="p-6 text-center text-muted">Nothing has that name.</Command.Empty>
              {pasted !== undefined && (
                <Command.Group heading="Pasted">
                  <Item name={pasted.name} run={pasted.run} value="pasted" />
                </Command.Group>
              )}
              {groups.map(({ title, items }) => (
                <Command.Group key={title} heading={title}>
                  {items.map(({ key, name, note, to, search }) => (
                    <Item key={key} value={key} name={name} note={note} run={() => go(to, search)} />
                  ))}
                </Command.Group>
              ))}
              {shown.length > 0 && (
                <Command.Group heading="Actions">
                  {shown.map(({ name, note, run }: Action) => (
                    <Item key={name} value={`action ${name}`} name={name} note={note} run={() => [onClose(), run()]} />
                  ))}
                </Command.Group>
              )}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface ItemProps {
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

function pastedAction(text: string, go: (to: string, search?: Record<string, string>) => void): Action | undefined {
  const traceId = traceIdIn(text);
  if (traceId !== undefined) return { name: `Open trace ${traceId}`, run: () => go(`/traces/${traceId}`) };
  const receipt = receiptIn(text);
  if (receipt !== undefined) return { name: `Open job ${receipt}`, run: () => go('/queues', { id: receipt }) };
  return undefined;
}

/** What can be done here: the keys of the page that are not a way through a list, and a few that hold everywhere. */
function pageActions(): readonly Action[] {
  const own = bindings
    .get()
    .filter(({ keys }) => keys.every((key) => /^[a-z]$/.test(key) && !'jkx'.includes(key)))
    .map(({ keys, name, run }) => ({ name, note: keys[0] ?? '', run: () => run(new KeyboardEvent('keydown')) }));
  const { theme } = preferences.get();
  return [
    ...own,
    { name: 'Toggle theme', run: () => setPreference('theme', theme === 'dark' ? 'light' : 'dark') },
    { name: 'Copy link', run: () => void copyText(location.href, 'link') },
    ...(['relative', 'local', 'utc'] as const).map((time) => ({
      name: `Show times ${time === 'utc' ? 'in UTC' : time}`,
      run: () => setPreference('time', time),
    })),
  ];
}
