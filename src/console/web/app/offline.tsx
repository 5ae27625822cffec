// What the page shows while there is no engine: before the first answer a full page (APP-1), later a bar above the data
// that stay (APP-2).

import { CloudOff, Unplug } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { connection } from '../data/connection.ts';
import { useConsoleInfo } from '../data/console-info.ts';
import { queryClient } from '../data/queries.ts';
import { call } from '../data/routes.ts';
import { useStore } from '../data/store.ts';
import { formatSpan, formatTime } from '../kit/charts/times.ts';
import { useNow } from '../kit/charts/use-now.ts';
import { EmptyState, Snippet } from '../kit/feedback/empty-state.tsx';
import { Button } from '../kit/inputs/button.tsx';

const RETRY_MS = 3_000;

/** Asks for the engine until it answers. The rest of the page learns of it from the store. */
function useRetry(isDown: boolean): void {
  useEffect(() => {
    if (!isDown) return;
    const ask = (): void => {
      call('GET /status').catch(() => {
        // Still down: the store has the reason.
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
        {now.missing === 'engine' ? 'The engine does not answer' : 'The console server does not answer'}
      </span>
      {/* The time changes every second; a screen reader reads the sentence before it once. */}
      <span aria-hidden>
        since {formatTime(now.sinceMs, 'local', nowMs).slice(11, 19)} ({formatSpan(nowMs - now.sinceMs)}). This page
        shows earlier data.
      </span>
    </div>
  );
}

/** The pages, greyed while their data are old. If there never was an engine, how to start one. */
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
        The console tries <code className="text-text">{info?.engine.http_url ?? '…'}</code> and{' '}
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
