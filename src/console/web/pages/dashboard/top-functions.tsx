// The five top functions by calls, errors and time, with their calls of the last five minutes (DSH-5).

import type { ReactNode } from 'react';
import type { FunctionFigures, FunctionRow, RecentCalls } from '../../../api/registry.ts';
import { Sparkline } from '../../kit/charts/sparkline.tsx';
import { formatDuration, formatRate } from '../../kit/charts/times.ts';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { Card } from '../../kit/layout/page.tsx';

type TopKind = 'calls' | 'errors' | 'time';

const SHOWN = 5;

/** What is counted for each interval: calls, failed calls, and milliseconds spent in them. */
const COUNTED: Readonly<Record<TopKind, (part: RecentCalls) => number>> = {
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  time: ({ total_ms }) => total_ms,
};

export interface TopFunction {
  readonly id: string;
  /** A minute. */
  readonly value: number;
  /** Oldest first. */
  readonly course: readonly number[];
}

function topFunctions(rows: readonly FunctionRow[], kind: TopKind): TopFunction[] {
  return rows
    .flatMap(({ function_id: id, figures }) => {
      const course = (figures?.recent ?? []).map(COUNTED[kind]);
      const value = figures === null ? 0 : course.reduce((sum, part) => sum + part, 0) / minutesOf(figures);
      return value > 0 ? [{ id, value, course }] : [];
    })
    .sort((a, b) => b.value - a.value || a.id.localeCompare(b.id))
    .slice(0, SHOWN);
}

/** The length of all intervals together: an engine that has just started has less than five minutes. */
function minutesOf({ calls, calls_per_minute }: FunctionFigures): number {
  return calls === 0 ? 1 : calls / calls_per_minute;
}

const KINDS: readonly { kind: TopKind; title: string; write: (value: number) => string }[] = [
  { kind: 'calls', title: 'Most calls', write: (value) => `${formatRate(value)}/min` },
  { kind: 'errors', title: 'Most errors', write: (value) => `${formatRate(value)}/min` },
  { kind: 'time', title: 'Most time', write: (value) => `${formatDuration(value)}/min` },
];

export function TopFunctions({ functions }: { readonly functions: readonly FunctionRow[] | undefined }): ReactNode {
  const isMeasured = functions?.some(({ figures }) => figures !== null) ?? true;
  return (
    <div className="grid gap-4 lg:grid-cols-3">
      {KINDS.map(({ kind, title, write }) => {
        const top = topFunctions(functions ?? [], kind);
        return (
          <Card key={kind} title={title} flush>
            {top.length === 0 && (
              <p className="p-3 text-muted">
                {isMeasured ? EMPTY[kind] : 'No figures yet. They need the observability module with metrics.'}
              </p>
            )}
            <ol>
              {top.map(({ id, value, course }) => (
                <li key={id} className="flex min-h-9 items-center gap-3 border-b border-line px-3 last:border-0">
                  <CopyId
                    id={id}
                    what="function id"
                    to="/functions"
                    search={{ id, tab: 'overview' }}
                    className="flex-1"
                  />
                  <Sparkline
                    // The last part is still being counted, and would look like a fall.
                    values={course.slice(0, -1)}
                    label={`${title}: ${id} in the last minutes`}
                    tone={kind === 'errors' ? 'bad' : 'accent'}
                  />
                  <span className="min-w-20 text-right whitespace-nowrap">{write(value)}</span>
                </li>
              ))}
            </ol>
          </Card>
        );
      })}
    </div>
  );
}

const EMPTY: Readonly<Record<TopKind, string>> = {
  calls: 'No calls in the last minutes.',
  errors: 'No errors in the last minutes.',
  time: 'No calls in the last minutes.',
};
