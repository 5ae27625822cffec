// The columns of the Triggers table.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TriggerRow } from '../../../../console-api/triggers.ts';
import { CopyId, MiddleCut } from '../../kit/copy-id.tsx';
import { Method } from '../../kit/method.tsx';
import { Badge, WordStatus } from '../../kit/status.tsx';
import type { Column } from '../../kit/table/column.ts';
import { Time } from '../../kit/time.tsx';
import { TriggerIcon } from '../../kit/trigger-icon.tsx';
import { methodOf, pathOf, type RouteNote } from '../../logic/http-routes.ts';
import { configOf, filterInWords, textIn, topicIn } from '../../logic/trigger-config.ts';
import { KIND_NAMES, kindOf } from '../../logic/trigger-kinds.ts';
import { visibleText } from '../../logic/visible-text.ts';
import type { TableLine } from './rows.ts';

type TriggerColumn = Omit<Column<TableLine>, 'cell' | 'text'> & {
  readonly show: (row: TriggerRow) => ReactNode;
  readonly raw: (row: TriggerRow) => string | number | boolean | null;
};

/** Groups are drawn across; only triggers have cells. */
function column({ show, raw, ...rest }: TriggerColumn): Column<TableLine> {
  return {
    ...rest,
    cell: (line) => (line.kind === 'trigger' ? show(line.row) : undefined),
    text: (line) => (line.kind === 'trigger' ? raw(line.row) : null),
  };
}

const NONE = <span className="text-faint">–</span>;

function moment(text: string | null): ReactNode {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? NONE : <Time ms={ms} />;
}

/** Method and path, expression, topic: what a user calls the trigger by. */
export function ConfigWords({ row, note }: { readonly row: TriggerRow; readonly note?: RouteNote | undefined }) {
  const config = configOf(row.config);
  switch (kindOf(row.trigger_type)) {
    case 'http':
      return (
        <span className="flex min-w-0 items-center gap-2">
          <Method method={methodOf(row.config)} />
          <span className="truncate font-mono">{visibleText(pathOf(row.config))}</span>
          {note !== undefined && (
            <span title={visibleText(note.text)}>
              <Badge tone="warn">{note.kind}</Badge>
            </span>
          )}
        </span>
      );
    case 'cron':
      return <Mono text={textIn(config, 'expression') ?? ''} />;
    case 'event':
    case 'queue':
      return <Mono text={topicIn(config)} />;
    case 'other':
      return <Mono text={row.config_summary} />;
    default:
      return <span className="truncate">{visibleText(filterInWords(row.trigger_type, config))}</span>;
  }
}

function Mono({ text }: { readonly text: string }): ReactNode {
  return <span className="truncate font-mono">{visibleText(text)}</span>;
}

/** Those that are the same whatever other routes there are. */
const REST: readonly Column<TableLine>[] = [
  column({
    id: 'function',
    header: 'Function',
    width: 180,
    grow: 2,
    sort: 'function',
    show: ({ function_id: id }) => (
      <Link
        to="/functions"
        search={{ id }}
        tabIndex={-1}
        onClick={(event) => event.stopPropagation()}
        className="min-w-0 font-mono text-accent hover:underline"
      >
        <MiddleCut text={id} />
      </Link>
    ),
    raw: ({ function_id }) => function_id,
  }),
  column({
    id: 'status',
    header: 'Status',
    width: 104,
    keeps: true,
    sort: 'status',
    show: ({ status, reason, last_fired_at: last }) => (
      <WordStatus word={status} title={visibleText([reason, last && `fired ${last}`].filter(Boolean).join(' · '))} />
    ),
    raw: ({ status }) => status,
  }),
  column({
    id: 'last_fired',
    header: 'Last fired',
    width: 104,
    show: ({ last_fired_at }) => moment(last_fired_at),
    raw: ({ last_fired_at }) => last_fired_at,
  }),
  column({
    id: 'next',
    header: 'Next run',
    width: 104,
    optional: true,
    show: ({ next_fire_time }) => moment(next_fire_time),
    raw: ({ next_fire_time }) => next_fire_time,
  }),
  column({
    id: 'worker',
    header: 'Worker',
    width: 120,
    optional: true,
    show: ({ worker_name }) => <span className="truncate text-muted">{visibleText(worker_name)}</span>,
    raw: ({ worker_name }) => worker_name,
  }),
  column({
    id: 'id',
    header: 'Trigger ID',
    width: 160,
    sort: 'id',
    optional: true,
    show: ({ id }) => <CopyId id={id} what="trigger id" />,
    raw: ({ id }) => id,
  }),
];

/** Where all are of one type no column says which. */
export function columnsWith(notes: ReadonlyMap<string, RouteNote>, isOneType: boolean): readonly Column<TableLine>[] {
  return [
    column({
      optional: isOneType,
      id: 'type',
      header: 'Type',
      width: 104,
      sort: 'type',
      show: ({ trigger_type: type }) => (
        <span className="flex min-w-0 items-center gap-1.5" title={visibleText(type)}>
          <TriggerIcon type={type} />
          <span className="truncate">{kindOf(type) === 'other' ? visibleText(type) : KIND_NAMES[kindOf(type)]}</span>
        </span>
      ),
      raw: ({ trigger_type }) => trigger_type,
    }),
    column({
      id: 'config',
      header: 'Path / Config',
      width: 240,
      grow: 3,
      show: (row) => <ConfigWords row={row} note={notes.get(row.id)} />,
      raw: ({ config_summary }) => config_summary,
    }),
    ...REST,
  ];
}
