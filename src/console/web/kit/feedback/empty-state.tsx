// Views without data: why, and what to do about it (console rule 3, EMP-2 to EMP-4). For a new engine: its first three
// steps, each checked off when it has happened (EMP-1).

import { type Query, useQuery } from '@tanstack/react-query';
import { Check, Copy, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { MissingModule } from '../../../api/envelope.ts';
import { ApiError, call } from '../../data/api.ts';
import { useCounters } from '../../data/counters.ts';
import { queryClient } from '../../data/queries.ts';
import { formatCount } from '../charts/times.ts';
import { Button, IconButton } from '../inputs/button.tsx';
import { copyText } from '../inputs/copy.tsx';
import { classes } from '../layout/classes.ts';
import { ErrorCard } from './error-card.tsx';

export interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly icon?: ReactNode;
}

const EMPTY =
  'mx-auto flex w-full max-w-[640px] flex-col items-center gap-2 px-4 py-14 text-center text-balance max-sm:py-10';

export function EmptyState({ title, children, icon }: EmptyStateProps): ReactNode {
  return (
    <div className={EMPTY} data-state="empty">
      {icon !== undefined && <div className="text-faint">{icon}</div>}
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="flex w-full flex-col items-center gap-3 text-muted">{children}</div>
    </div>
  );
}

/** Text to run or paste, with a copy button. */
export function Snippet({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  return (
    <div className="flex w-full items-start gap-2 rounded-md border border-line bg-ground p-2 text-left">
      <pre className="min-w-0 flex-1 py-0.5 text-sm leading-5 text-wrap break-words whitespace-pre-wrap text-text">
        {text}
      </pre>
      <IconButton label={`Copy ${label}`} className="size-6" onClick={() => void copyText(text, label)}>
        <Copy size={13} />
      </IconButton>
    </div>
  );
}

export interface ActiveFilter {
  /** In the user's words: `status: error`. */
  readonly label: string;
  readonly remove: () => void;
}

interface NoMatchProps {
  readonly filters: readonly ActiveFilter[];
  /** The number without the filters, or a function that reads it; `null` where it is not counted. */
  readonly total: number | null | ((signal: AbortSignal) => Promise<{ readonly total: number | null }>);
  readonly what: string;
}

/** EMP-3: the filters that match nothing, each with a button to remove it, and the number without them. */
export function NoMatch({ filters, total, what }: NoMatchProps): ReactNode {
  const asked = useQuery({
    queryKey: ['total of', what],
    queryFn: ({ signal }) => (typeof total === 'function' ? total(signal) : { total }),
  });
  const count = typeof total === 'function' ? (asked.data?.total ?? null) : total;
  return (
    <EmptyState title={`No ${what} match`}>
      <p>
        {count === null
          ? 'Without these filters there may be more.'
          : `Without filters there are ${formatCount(count)}.`}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        {filters.map(({ label, remove }) => (
          <Button key={label} onClick={remove} aria-label={`Remove filter ${label}`} icon={<X size={13} />}>
            {label}
          </Button>
        ))}
      </div>
    </EmptyState>
  );
}

interface NoSearchMatchProps extends Omit<NoMatchProps, 'filters'> {
  readonly q: string;
  readonly clear: () => void;
}

/** The same where the search is the only filter. */
export function NoSearchMatch({ q, clear, ...rest }: NoSearchMatchProps): ReactNode {
  return <NoMatch {...rest} filters={[{ label: `search: ${q}`, remove: clear }]} />;
}

/** EMP-2: what to add, for answers with `MODULE_MISSING`. Every other failure is shown as an error. */
export function FailedState({
  error,
  what,
  shows,
  retry,
}: {
  readonly error: unknown;
  /** "Streams": begins the sentence. */
  readonly what: string;
  /** What the page shows once the module is loaded. */
  readonly shows: string;
  readonly retry?: () => void;
}): ReactNode {
  const missing = missingModuleOf(error);
  if (missing === undefined) {
    return (
      <div className="p-4">
        <ErrorCard error={error} what={`Reading ${what.toLowerCase()}`} retry={retry} />
      </div>
    );
  }
  return (
    <EmptyState title={`${what} need ${missing.module}`}>
      <p>{error instanceof Error ? error.message : ''}</p>
      <p>Add this to the configuration of the engine:</p>
      <Snippet text={missing.snippet} label="configuration" />
      {missing.command !== undefined && (
        <>
          <p>or run</p>
          <Snippet text={missing.command} label="command" />
        </>
      )}
      <p>Then this page shows {shows}.</p>
    </EmptyState>
  );
}

export function missingModuleOf(error: unknown): MissingModule | undefined {
  if (!(error instanceof ApiError) || error.code !== 'MODULE_MISSING') return undefined;
  const { details } = error;
  return typeof details === 'object' && details !== null && 'module' in details
    ? (details as MissingModule)
    : undefined;
}

const EXPLAIN_MS = 5_000;

/** EMP-4: bars after 150 ms, words after 5 s, and a button that stops waiting. */
export function Loading({ what, rows = 8 }: { readonly what: string; readonly rows?: number }): ReactNode {
  const [state, setState] = useState<'new' | 'long' | 'stopped'>('new');
  useEffect(() => {
    if (state !== 'new') return;
    const timer = setTimeout(() => setState('long'), EXPLAIN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  if (state === 'stopped') {
    const again = (): void => {
      setState('new');
      void queryClient.refetchQueries({ type: 'active', predicate: isUnanswered });
    };
    return (
      <EmptyState title={`Stopped waiting for ${what}`}>
        <Button onClick={again}>Ask again</Button>
      </EmptyState>
    );
  }
  const stop = (): void => {
    setState('stopped');
    void queryClient.cancelQueries({ predicate: isUnanswered });
  };
  return (
    <div role="status" aria-label={`Loading ${what}`} className="late flex flex-col gap-3 p-4">
      {Array.from({ length: rows }, (_none, row) => (
        <div key={SKELETON_KEYS[row]} className="skeleton h-3.5" style={{ width: `${88 - ((row * 37) % 41)}%` }} />
      ))}
      {state === 'long' && (
        <p className="flex items-center gap-2 text-muted">
          Still waiting for {what} from the engine.
          <Button onClick={stop}>Cancel</Button>
        </p>
      )}
    </div>
  );
}

/** Requested, without an answer so far. */
const isUnanswered = ({ state }: Query): boolean => state.status === 'pending';

const SKELETON_KEYS = Array.from({ length: 64 }, (_none, row) => `row-${row}`);

export function FirstRun(): ReactNode {
  const { latest } = useCounters();
  const { data } = useQuery({ queryKey: ['status'], queryFn: ({ signal }) => call('GET /status', { signal }) });
  const workers = latest?.workers ?? data?.counts.workers;
  const { data: hasOwn = false } = useQuery({ queryKey: ['workers', 'own', workers], queryFn: hasOwnWorker });
  const functions = latest?.functions ?? data?.counts.functions ?? 0;
  const steps = [
    { title: 'Create a project', text: 'svc create my-app\ncd my-app && npm install', done: hasOwn },
    { title: 'Start its worker', text: 'npm start', done: functions > 0 },
    { title: 'Call its function', text: 'svc trigger hello::greet name=Ada', done: (latest?.calls_per_s ?? 0) > 0 },
  ];
  return (
    <div className="mx-auto flex w-full max-w-[640px] flex-col gap-6 px-4 py-12 max-sm:py-6">
      <div>
        <h2 className="text-xl font-semibold">The engine runs and waits for a worker</h2>
        <p className="text-muted">Three steps to a first call. Each is checked off when it is done.</p>
      </div>
      <ol className="flex flex-col gap-5">
        {steps.map(({ title, text, done }, at) => (
          <li key={title} className="flex gap-3">
            <span
              className={classes(
                'flex size-6 shrink-0 items-center justify-center rounded-full border text-sm font-semibold',
                done ? 'border-good bg-good-soft text-good' : 'border-line-strong text-muted',
              )}
            >
              {done ? <Check size={14} aria-label="Done" /> : at + 1}
            </span>
            <div className="flex min-w-0 flex-1 flex-col gap-2">
              <h3 className="font-semibold">{title}</h3>
              <Snippet text={text} label={title.toLowerCase()} />
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The console's server is a worker that the user did not create. */
async function hasOwnWorker({ signal }: { readonly signal: AbortSignal }): Promise<boolean> {
  const { items } = await call('GET /workers', { query: { limit: CONSOLES_MAX }, signal });
  return items.some(({ name }) => name !== 'svc-console');
}

const CONSOLES_MAX = 100;
