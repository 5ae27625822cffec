// The header of the log list (LOG-1): the names of its columns. The time column reverses the order.

import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import type { SearchState } from '../../data/search.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { CELL_WIDTHS } from './log-row.tsx';
import type { LOGS_SEARCH } from './logs-search.ts';

export const LOG_HEAD_PX = 32;

export function LogHead({ search, setSearch }: SearchState<typeof LOGS_SEARCH>): ReactNode {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className={
        'sticky top-0 z-10 flex min-w-full items-stretch gap-2 border-b border-line bg-panel px-3 text-xs ' +
        'font-medium text-muted'
      }
      style={{ height: LOG_HEAD_PX }}
    >
      <TimeHead {...{ search, setSearch }} />
      <Head width={CELL_WIDTHS.severity}>Severity</Head>
      <Head width={CELL_WIDTHS.service}>Service</Head>
      {search.cols.map((key) => (
        <Head key={key} width={CELL_WIDTHS.attribute}>
          <span className="truncate font-mono">{visibleText(key)}</span>
        </Head>
      ))}
      <Head width="min-w-0 flex-1">Message</Head>
    </div>
  );
}

function Head({ width, children }: { readonly width: string; readonly children: ReactNode }): ReactNode {
  return (
    <div role="columnheader" className={classes('flex items-center', width)}>
      {children}
    </div>
  );
}

/** The records around one record have only one order. */
function TimeHead({ search, setSearch }: SearchState<typeof LOGS_SEARCH>): ReactNode {
  if (search.around !== undefined) return <Head width={CELL_WIDTHS.time}>Timestamp</Head>;
  const isOldestFirst = search.order === 'asc';
  const Arrow = isOldestFirst ? ArrowUp : ArrowDown;
  return (
    <div
      role="columnheader"
      aria-sort={isOldestFirst ? 'ascending' : 'descending'}
      className={classes('flex', CELL_WIDTHS.time)}
    >
      <button
        type="button"
        className="flex items-center gap-1 text-text"
        onClick={() => setSearch({ order: isOldestFirst ? 'desc' : 'asc' })}
      >
        Timestamp
        <Arrow size={12} className="shrink-0 max-sm:hidden" />
      </button>
    </div>
  );
}
