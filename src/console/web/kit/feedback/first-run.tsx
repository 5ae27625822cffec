// The first three steps of a new engine (EMP-1). Each is checked off when it has happened.

import { useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCounters } from '../../data/counters.ts';
import { call } from '../../data/routes.ts';
import { classes } from '../layout/classes.ts';
import { Snippet } from './empty-state.tsx';

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
