// The columns of the Triggers table.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TriggerRow } from '../../../api/registry.ts';
import { Time } from '../../kit/charts/time.tsx';
import { Badge, WordStatus } from '../../kit/feedback/status.tsx';
import { Method, TriggerIcon } from '../../kit/feedback/trigger-icon.tsx';
import { CopyId, MiddleCut } from '../../kit/inputs/copy.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Column } from '../../kit/table/column.ts';
import { methodOf, pathOf, type RouteNote } from './logic/http-routes.ts';
import { configOf, filterInWords, KIND_NAMES, kindOf, textIn, topicIn } from './logic/trigger-kinds.ts';

const NONE = <span className="text-faint">–</span>;

function moment(text: string | null): ReactNode {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? NONE : <Time ms={ms} />;
}

/** Method and path, expression, or topic: the user's name for the trigger. */
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

/** The columns that do not depend on other routes. */
const REST: readonly Column<TriggerRow>[] = [
  {
    id: 'function',
    header: 'Function',
    width: 180,
    grow: 2,
    sort: 'function',
    cell: ({ function_id: id }) => (
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
    text: ({ function_id }) => function_id,
  },
  {
    id: 'status',
    header: 'Status',
    width: 104,
    keeps: true,
    sort: 'status',
    cell: ({ status, reason, last_fired_at: last }) => (
      <WordStatus word={status} title={visibleText([reason, last && `fired ${last}`].filter(Boolean).join(' · '))} />
    ),
    text: ({ status }) => status,
  },
  {
    id: 'last_fired',
    header: 'Last fired',
    width: 104,
    cell: ({ last_fired_at }) => moment(last_fired_at),
    text: ({ last_fired_at }) => last_fired_at,
  },
  {
    id: 'next',
    header: 'Next run',
    width: 104,
    optional: true,
    cell: ({ next_fire_time }) => moment(next_fire_time),
    text: ({ next_fire_time }) => next_fire_time,
  },
  {
    id: 'worker',
    header: 'Worker',
    width: 120,
    optional: true,
    cell: ({ worker_name }) => <span className="truncate text-muted">{visibleText(worker_name)}</span>,
    text: ({ worker_name }) => worker_name,
  },
  {
    id: 'id',
    header: 'Trigger ID',
    width: 160,
    sort: 'id',
    optional: true,
    cell: ({ id }) => <CopyId id={id} what="trigger id" />,
    text: ({ id }) => id,
  },
];

/** Where all triggers have one type, no column shows it. */
export function columnsWith(notes: ReadonlyMap<string, RouteNote>, isOneType: boolean): readonly Column<TriggerRow>[] {
  return [
    {
      optional: isOneType,
      // The heads of the groups show it too.
      yields: true,
      id: 'type',
      header: 'Type',
      width: 104,
      sort: 'type',
      cell: ({ trigger_type: type }) => (
        <span className="flex min-w-0 items-center gap-1.5" title={visibleText(type)}>
          <TriggerIcon type={type} />
          <span className="truncate">{kindOf(type) === 'other' ? visibleText(type) : KIND_NAMES[kindOf(type)]}</span>
        </span>
      ),
      text: ({ trigger_type }) => trigger_type,
    },
    {
      id: 'config',
      header: 'Path / Config',
      width: 400,
      grow: 3,
      cell: (row) => <ConfigWords row={row} note={notes.get(row.id)} />,
      text: ({ config_summary }) => config_summary,
    },
    ...REST,
  ];
}
