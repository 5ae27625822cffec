// What the page says while there is no engine: before the first answer in place of everything (APP-1), later as a bar
// above the data that stay (APP-2).

import { CloudOff, Unplug } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { connection } from '../data/connection.ts';
import { useConsoleInfo } from '../data/console-info.ts';
import { queryClient } from '../data/queries.ts';
import { call } from '../data/routes.ts';
import { useStore } from '../data/store.ts';
import { Button } from '../kit/button.tsx';
import { EmptyState, Snippet } from '../kit/empty-state.tsx';
import { useNow } from '../kit/use-now.ts';
import { formatSpan, formatTime } from '../logic/times.ts';

const RETRY_MS = 3_000;

/** Asks for the engine until it answers; the rest of the page hears of it by the store. */
function useRetry(isDown: boolean): void {
  useEffect(() => {
    if (!isDown) return;
    const ask = (): void => {
      call('GET /status').catch(() => {
        // Still down: the store knows.
      });
    };
    const timer = setInterval(ask, RETRY_MS);
    return () => clearInterval(timer);
  }, [isDown]);
}

const BAR =
  'flex min-h-9 shrink-0 flex-wrap items-center gap-x-2 border-b border-warn bg-warn-soft px-4 py-1 text-warn';

export function OfflineBar(): ReactNode {
  const now = useStore(connection);
  const nowMs = useNow();
  useRetry(now.state === 'down');
  if (now.state !== 'down' || !now.wasUp) return undefined;
  return (
    <div role="status" className={BAR}>
      <Unplug size={15} />
      <span className="font-medium">
        {now.missing === 'engine' ? 'The engine is away' : 'The console server is away'}
      </span>
      {/* Counts by itself; a screen reader hears the sentence before once. */}
      <span aria-hidden>
        since {formatTime(now.sinceMs, 'local', nowMs).slice(11, 19)} ({formatSpan(nowMs - now.sinceMs)}). What you see
        is from before.
      </span>
    </div>
  );
}

/** The pages, greyed while their data are old; or, where there never was an engine, how to start one. */
export function EngineGate({ children }: { readonly children: ReactNode }): ReactNode {
  const now = useStore(connection);
  if (now.state === 'down' && !now.wasUp) return <NoEngine sinceMs={now.sinceMs} message={now.message} />;
  const isOld = now.state === 'down';
  return <div className={isOld ? 'h-full opacity-60 saturate-50' : 'h-full'}>{children}</div>;
}

function NoEngine({ sinceMs, message }: { readonly sinceMs: number; readonly message: string }): ReactNode {
  const info = useConsoleInfo();
  const nowMs = useNow();
  const next = Math.ceil((RETRY_MS - ((nowMs - sinceMs) % RETRY_MS)) / 1_000);
  return (
    <EmptyState title="No engine answers" icon={<CloudOff size={32} />}>
      <p>
        The console looks for it at <code className="text-text">{info?.engine.http_url ?? '…'}</code> and{' '}
        <code className="text-text">{info?.engine.bridge_url ?? '…'}</code>.
      </p>
      <p className="text-sm break-words">{info?.engine.error ?? message}</p>
      <p>Start it with</p>
      <Snippet text={info?.engine.hint ?? 'svc --config svc-config.yaml'} label="command" />
      <p className="flex items-center gap-3">
        <span>Trying again in {Math.max(1, next)} s.</span>
        <Button onClick={() => void queryClient.invalidateQueries()}>Try now</Button>
      </p>
    </EmptyState>
  );
}
