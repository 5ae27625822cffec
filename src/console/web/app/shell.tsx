// The frame of every page: navigation, the bar that reports a lost engine, toasts, and the dialogs that keys open.

import { Outlet } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { session } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { Toasts } from '../kit/feedback/toast.tsx';
import { useWide } from '../kit/layout/use-wide.ts';
import { useGlobalKeys } from './global-keys.ts';
import { KeyList } from './key-list.tsx';
import { EngineGate, OfflineBar } from './offline.tsx';
import { PaletteComing } from './palette-coming.tsx';
import { SideNav, TopNav } from './side-nav.tsx';
import { TokenGate } from './token-gate.tsx';

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
