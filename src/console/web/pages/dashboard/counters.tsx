// The counters that are always available (DSH-1).

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Counts } from '../../../../console-api/system.ts';
import { formatCount } from '../../kit/charts/times.ts';

export function Counters({ counts }: { readonly counts: Counts | undefined }): ReactNode {
  const { functions, triggers, workers, workers_active, streams, triggers_in_error } = counts ?? {};
  return (
    <ul className="grid grid-cols-2 gap-4 lg:grid-cols-4">
      <Counter name="Functions" to="/functions" count={functions} note="registered" />
      <Counter
        name="Triggers"
        to="/triggers"
        count={triggers}
        note={triggers_in_error === undefined || triggers_in_error === 0 ? 'bound' : `${triggers_in_error} in error`}
      />
      <Counter
        name="Workers"
        to="/workers"
        count={workers}
        note={workers_active === undefined ? 'connected' : `connected, ${formatCount(workers_active)} active`}
      />
      <Counter name="Streams" to="/streams" count={streams} note={streams === null ? 'no stream module' : 'known'} />
    </ul>
  );
}

interface CounterProps {
  readonly name: string;
  readonly to: string;
  readonly count: number | null | undefined;
  readonly note: string;
}

function Counter({ name, to, count, note }: CounterProps): ReactNode {
  return (
    <li>
      <Link to={to} className="flex flex-col rounded-lg border border-line bg-panel px-4 py-3 hover:border-line-strong">
        <span className="text-sm text-muted">{name}</span>
        <span className="text-2xl font-semibold" data-counter={name}>
          {count === undefined ? (
            <span className="skeleton late inline-block h-6 w-12" />
          ) : count === null ? (
            '–'
          ) : (
            formatCount(count)
          )}
        </span>
        <span className="truncate text-sm text-faint">{count === undefined ? ' ' : note}</span>
      </Link>
    </li>
  );
}
