// The list of keys that act now (`?`).

import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { preferences, setPreference } from '../data/preferences.ts';
import { useStore } from '../data/store.ts';
import { Toggle } from '../kit/inputs/field.tsx';
import { useFocusBack } from '../kit/layout/focus-back.ts';
import { bindings } from './keys.ts';

const SIGNS: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  PageDown: 'PgDn',
  PageUp: 'PgUp',
};

export function KeyList({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactNode {
  const { letters } = useStore(preferences);
  const focusBack = useFocusBack();
  const known = useStore(bindings);
  // A later binding of a key hides an earlier one, as it does when the key is pressed.
  const shown = new Map(known.map((binding) => [binding.keys.join('|'), binding]));
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-ground/75" />
        <Dialog.Content
          {...focusBack}
          aria-describedby={undefined}
          className={
            'fixed top-1/2 left-1/2 z-50 flex max-h-[80dvh] w-[640px] max-w-[calc(100vw-32px)] -translate-x-1/2 ' +
            '-translate-y-1/2 flex-col gap-3 rounded-lg border border-line bg-panel p-4 shadow-float'
          }
        >
          <Dialog.Title className="text-lg font-semibold">Keys</Dialog.Title>
          <ul className="grid gap-x-8 overflow-y-auto sm:grid-cols-2">
            {[...shown.values()].map(({ keys, name }) => (
              <li key={keys.join('|')} className="flex items-center gap-2 border-b border-line py-1">
                <span className="min-w-0 flex-1 truncate">{name}</span>
                {keys.map((key) => (
                  <kbd key={key} className="rounded-sm border border-line bg-raised px-1.5 text-xs text-muted">
                    {signOf(key)}
                  </kbd>
                ))}
              </li>
            ))}
          </ul>
          <Toggle label="Single-letter keys" checked={letters} onChange={(on) => setPreference('letters', on)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function signOf(key: string): string {
  const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
  return key
    .replace(/mod\+(\w)/, (_whole, letter: string) => `${isApple ? '⌘' : 'Ctrl'} ${letter.toUpperCase()}`)
    .replace('shift+', 'Shift ')
    .replace(/^\w+$/, (word) => SIGNS[word] ?? word);
}
