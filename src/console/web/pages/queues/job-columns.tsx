// The columns of jobs and of dead letters.

import type { JobRow } from '../../../api/queues.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Column } from '../../kit/table/column.ts';

const NONE = <span className="text-faint">–</span>;

function moment(id: 'enqueued_at' | 'due_at' | 'failed_at' | 'first_failed_at', header: string): Column<JobRow> {
  return {
    id,
    header,
    width: 120,
    optional: id === 'first_failed_at',
    text: (row) => row[id],
    cell: (row) => {
      const ms = row[id];
      return ms === null ? NONE : <Time ms={ms} />;
    },
  };
}

const RECEIPT: Column<JobRow> = {
  id: 'id',
  header: 'Receipt',
  // Where there is little room, the last digits and the copy button are still visible.
  width: 230,
  grow: 1,
  text: ({ id }) => id,
  cell: ({ id }) => <CopyId id={id} what="receipt" className="text-text" />,
};
const FUNCTION: Column<JobRow> = {
  id: 'function_id',
  header: 'Function',
  width: 160,
  grow: 1,
  text: ({ function_id: id }) => id,
  cell: ({ function_id: id }) => <CopyId id={id} what="function id" to="/functions" search={{ id }} />,
};
const STATE: Column<JobRow> = {
  id: 'state',
  header: 'State',
  width: 148,
  keeps: true,
  text: ({ state }) => state,
  cell: ({ state }) => <WordStatus word={stateWord(state)} />,
};
const ATTEMPT: Column<JobRow> = {
  id: 'attempt',
  header: 'Attempt',
  width: 80,
  align: 'right',
  text: ({ attempt }) => attempt,
  cell: ({ attempt }) => formatCount(attempt),
};
const SIZE: Column<JobRow> = {
  id: 'size_bytes',
  header: 'Size',
  width: 80,
  align: 'right',
  text: ({ size_bytes: size }) => size,
  cell: ({ size_bytes: size }) => formatBytes(size),
};
const ERROR: Column<JobRow> = {
  id: 'error',
  header: 'Error',
  width: 240,
  grow: 3,
  keeps: true,
  text: ({ error }) => error,
  cell: ({ error }) =>
    error === null ? (
      NONE
    ) : (
      <span className="truncate text-bad" title={visibleText(error)}>
        {visibleText(error)}
      </span>
    ),
};
const GROUP: Column<JobRow> = {
  id: 'group',
  header: 'Group',
  width: 120,
  optional: true,
  text: ({ group }) => group,
  cell: ({ group }) => (group === null ? NONE : <span className="truncate">{visibleText(group)}</span>),
};
const REASON: Column<JobRow> = {
  id: 'reason',
  header: 'Reason',
  width: 140,
  optional: true,
  text: ({ reason }) => reason,
  cell: ({ reason }) => (reason === null ? NONE : <span className="truncate">{visibleText(reason)}</span>),
};

export const JOB_COLUMNS: readonly Column<JobRow>[] = [
  RECEIPT,
  FUNCTION,
  STATE,
  ATTEMPT,
  moment('enqueued_at', 'Enqueued'),
  moment('due_at', 'Due'),
  SIZE,
  ERROR,
  GROUP,
];

export const DEAD_COLUMNS: readonly Column<JobRow>[] = [
  RECEIPT,
  FUNCTION,
  ERROR,
  ATTEMPT,
  moment('failed_at', 'Died'),
  moment('first_failed_at', 'First failed'),
  moment('enqueued_at', 'Enqueued'),
  SIZE,
  REASON,
  GROUP,
];

export function stateWord(state: JobRow['state']): string {
  return state.replaceAll('_', ' ');
}
