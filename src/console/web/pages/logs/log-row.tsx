// A row of the log list: a record, many similar records as one, or a gap (LIV-5).

import { ChevronDown, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { LOG_WRITER } from '../../../../core/telemetry/records/records.ts';
import type { LogRow } from '../../../api/telemetry.ts';
import type { SearchState } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount, formatCountOf } from '../../kit/charts/times.ts';
import { similarKey } from '../../kit/json/logic/similar-text.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { LogText, Severity } from './log-text.tsx';
import type { LogListRow } from './logic/log-rows.ts';
import { stripAnsi } from './logic/text-pieces.ts';
import type { LOGS_SEARCH } from './logs-search.ts';

/** Of the cells of a row, and of the headers above them. */
export const CELL_WIDTHS = {
  time: 'w-24 shrink-0 max-sm:w-16',
  severity: 'w-12 shrink-0',
  service: 'w-28 shrink-0 max-sm:w-16',
  attribute: 'w-32 shrink-0',
} as const;

export interface RowContentProps {
  readonly search: SearchState<typeof LOGS_SEARCH>['search'];
  readonly markedWords: readonly string[];
}

export function RowContent({ row, ...props }: RowContentProps & { readonly row: LogListRow }): ReactNode {
  if (row.kind === 'gap') {
    return (
      <div role="gridcell" className="flex-1 text-center text-sm text-warn">
        {row.dropped === undefined
          ? 'The live connection was lost here; records may be missing'
          : `${formatCountOf(row.dropped, 'record')} left out here: more arrived than this page can show`}
      </div>
    );
  }
  if (row.kind === 'group') return <GroupRow {...props} row={row} />;
  return <RecordRow {...props} log={row.log} />;
}

function GroupRow({
  row,
  search,
}: RowContentProps & { readonly row: Extract<LogListRow, { kind: 'group' }> }): ReactNode {
  return (
    <>
      <Moment log={row.newest} />
      <div role="gridcell" className={classes('flex', CELL_WIDTHS.severity)}>
        <Severity text={row.newest.severity_text} />
      </div>
      <Service log={row.newest} />
      {/* Similar records differ in these. */}
      {search.cols.map((key) => (
        <div role="gridcell" key={key} className={CELL_WIDTHS.attribute} />
      ))}
      <div role="gridcell" className="flex min-w-0 flex-1 items-start gap-2">
        <span className="shrink-0 rounded-sm bg-accent-soft px-1.5 text-sm font-medium text-accent">
          ×{formatCount(row.count)}
        </span>
        <span className={classes('min-w-0 font-mono text-sm text-muted', search.wrap ? 'break-words' : 'truncate')}>
          {visibleText(similarKey(firstLine(stripAnsi(row.newest.body))))}
        </span>
      </div>
    </>
  );
}

function RecordRow({ log, search, markedWords }: RowContentProps & { readonly log: LogRow }): ReactNode {
  const lines = log.body.includes('\n') ? log.body.split(/\r?\n/).length : 1;
  const isOpen = search.wrap || log.id === search.id;
  const Arrow = isOpen ? ChevronDown : ChevronRight;
  return (
    <>
      <Moment log={log} />
      <div role="gridcell" className={classes('flex', CELL_WIDTHS.severity)}>
        <Severity text={log.severity_text} />
      </div>
      <Service log={log} />
      {search.cols.map((key) => (
        <div
          role="gridcell"
          key={key}
          className={classes('truncate font-mono text-sm text-muted', CELL_WIDTHS.attribute)}
          title={key}
        >
          {visibleText(valueText(log.attributes[key]))}
        </div>
      ))}
      <div role="gridcell" className={classes('flex min-w-0 flex-1 items-start gap-2', !isOpen && 'overflow-hidden')}>
        <LogText text={isOpen ? log.body : firstLine(log.body)} isWrapped={isOpen} markedWords={markedWords} />
        {lines > 1 && !isOpen && (
          <span className="inline-flex shrink-0 items-center rounded-sm bg-raised px-1 text-xs text-muted">
            <Arrow size={11} /> {formatCount(lines)} lines
          </span>
        )}
        {!isOpen && <Attributes log={log} />}
      </div>
    </>
  );
}

const ATTRIBUTES_SHOWN = 6;
const ATTRIBUTE_CHARS = 60;

/** Who wrote the record is in its detail. */
const WRITERS: ReadonlySet<string> = new Set(Object.values(LOG_WRITER));

/** The attributes of the record, as far as they fit after the message. */
function Attributes({ log }: { readonly log: LogRow }): ReactNode {
  const given = Object.entries(log.attributes).filter(([key]) => !WRITERS.has(key));
  const pairs = given.slice(0, ATTRIBUTES_SHOWN);
  if (pairs.length === 0) return undefined;
  return (
    <span className="min-w-0 flex-1 truncate font-mono text-sm text-faint max-sm:hidden">
      {pairs.map(([key, value]) => visibleText(`${key}=${valueText(value).slice(0, ATTRIBUTE_CHARS)}`)).join('  ')}
    </span>
  );
}

function Moment({ log }: { readonly log: LogRow }): ReactNode {
  const nano = log.timestamp_unix_nano;
  return (
    <div role="gridcell" className={classes('text-sm text-muted', CELL_WIDTHS.time)}>
      <Time ms={nano / 1e6} nanos={BigInt(Math.round(nano)).toString()} className="block truncate" />
    </div>
  );
}

function Service({ log }: { readonly log: LogRow }): ReactNode {
  return (
    <div
      role="gridcell"
      className={classes('truncate text-sm', CELL_WIDTHS.service)}
      title={visibleText(log.service_name)}
    >
      {visibleText(log.service_name)}
    </div>
  );
}

function firstLine(text: string): string {
  const end = text.search(/[\r\n]/);
  return end === -1 ? text : text.slice(0, end);
}

export function valueText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
