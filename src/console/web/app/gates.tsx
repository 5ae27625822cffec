// What the console shows when it cannot show current data. Before the first answer of the engine: a full page (APP-1).
// After a loss: a bar above the earlier data (APP-2). Where the console requires a token: a form that asks for it, once
// for each tab (APP-4).

import { CloudOff, KeyRound, Unplug } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../data/api.ts';
import { connection, useConsoleInfo } from '../data/connection.ts';
import { queryClient } from '../data/queries.ts';
import { session, setToken } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { useNow } from '../kit/charts/time.tsx';
import { formatSpan, formatTime } from '../kit/charts/times.ts';
import { EmptyState, Snippet } from '../kit/feedback/empty-state.tsx';
import { Button } from '../kit/inputs/button.tsx';
import { Field, Input } from '../kit/inputs/field.tsx';

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

export function TokenGate(): ReactNode {
  const [text, setText] = useState('');
  const { token } = useStore(session);
  return (
    <form
      className="mx-auto flex w-full max-w-sm flex-col gap-4 px-4 pt-[16vh]"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(text);
        void queryClient.invalidateQueries();
      }}
    >
      <KeyRound size={28} className="text-faint" />
      <h1 className="text-xl font-semibold">This console requires a token</h1>
      <p className="text-muted">
        It was started with <code>--token-file</code> or <code>SVC_TOKEN</code>. The token stays in this tab and is
        never part of an address.
      </p>
      <Field label="Token" error={token === undefined ? undefined : 'The console does not accept this token.'}>
        {(ids) => (
          <Input
            {...ids}
            type="password"
            autoFocus
            value={text}
            aria-invalid={token !== undefined}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Button look="primary" type="submit" disabled={text === ''}>
        Continue
      </Button>
    </form>
  );
}
