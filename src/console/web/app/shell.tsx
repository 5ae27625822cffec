// The frame of every page: navigation, the bar that reports a lost engine, toasts, the keys that act on every page, and
// the dialogs that they open (console 3.1).

import { Outlet, useNavigate } from '@tanstack/react-router';
import { Dialog } from 'radix-ui';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { preferences, setPreference } from '../data/preferences.ts';
import { session } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { keepRange } from '../data/time-range.ts';
import { Toasts } from '../kit/feedback/toast.tsx';
import { Toggle } from '../kit/inputs/field.tsx';
import { useFocusBack } from '../kit/layout/overlays.tsx';
import { useWide } from '../kit/layout/page.tsx';
import { PAGES } from '../pages/list.ts';
import { EngineGate, OfflineBar, TokenGate } from './gates.tsx';
import { bindings, type KeyBinding, useKeys } from './keys.ts';
import { PaletteComing } from './palette-coming.tsx';
import { SideNav, TopNav } from './side-nav.tsx';

const Palette = lazy(() => import('./palette.tsx'));

const SKIP =
  'sr-only z-50 rounded-md bg-accent-fill px-3 py-1 text-on-accent focus:not-sr-only focus:absolute focus:m-2';

export function Shell(): ReactNode {
  const [palette, setPalette] = useState(false);
  const [keyList, setKeyList] = useState(false);
  const typed = useRef('');
  const openPalette = (): void => {
    typed.current = '';
    setPalette(true);
  };
  const isWide = useWide();
  const { wanted } = useStore(session);
  useGlobalKeys({ openPalette, openKeyList: () => setKeyList(true) });
  return (
    <div className={isWide ? 'flex h-full' : 'flex h-full flex-col'}>
      <a href="#main" className={SKIP}>
        Skip to content
      </a>
      {isWide ? (
        <SideNav openPalette={openPalette} openKeyList={() => setKeyList(true)} />
      ) : (
        <TopNav openPalette={openPalette} openKeyList={() => setKeyList(true)} />
      )}
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <OfflineBar />
        <main id="main" tabIndex={-1} className="min-h-0 min-w-0 flex-1 outline-none">
          {wanted ? (
            <TokenGate />
          ) : (
            <EngineGate>
              <Outlet />
            </EngineGate>
          )}
        </main>
      </div>
      {palette && (
        <Suspense fallback={<PaletteComing typed={typed} onClose={() => setPalette(false)} />}>
          <Palette typed={typed} onClose={() => setPalette(false)} />
        </Suspense>
      )}
      <KeyList open={keyList} onClose={() => setKeyList(false)} />
      <Toasts />
    </div>
  );
}

function useGlobalKeys({
  openPalette,
  openKeyList,
}: {
  readonly openPalette: () => void;
  readonly openKeyList: () => void;
}): void {
  const navigate = useNavigate();
  const pages = PAGES.map(
    ({ path, name, key }): KeyBinding => ({
      keys: [`g ${key}`],
      name: `Go to ${name}`,
      run: () => void navigate({ to: path, search: keepRange }),
    }),
  );
  useKeys([
    { keys: ['mod+k'], name: 'Command palette', inInputs: true, run: openPalette },
    { keys: ['?'], name: 'List of keys', run: openKeyList },
    ...pages,
  ]);
}

const SIGNS: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  PageDown: 'PgDn',
  PageUp: 'PgUp',
};

function KeyList({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactNode {
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
