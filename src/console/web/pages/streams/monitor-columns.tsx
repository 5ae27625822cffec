// The columns of the monitor's messages.

import { ArrowDownLeft, ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { StreamTap } from '../../../../console-api/live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { Badge } from '../../kit/feedback/status.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Column } from '../../kit/table/column.ts';
import { contentOf, type MonitorLine, type MonitorMessage, previewOf } from './logic/stream-monitor.ts';

type MessageColumn = Omit<Column<MonitorLine>, 'cell' | 'text'> & {
  readonly show: (tap: StreamTap, line: MonitorMessage) => ReactNode;
  readonly raw: (tap: StreamTap) => string | number | null;
};

function column({ show, raw, ...rest }: MessageColumn): Column<MonitorLine> {
  return {
    ...rest,
    cell: (line) => (line.kind === 'message' ? show(line.tap, line) : undefined),
    text: (line) => (line.kind === 'message' ? raw(line.tap) : null),
  };
}

const PREVIEW_CHARS = 200;

function name(id: 'stream' | 'group' | 'item', header: string): Column<MonitorLine> {
  return column({
    id,
    header,
    width: 110,
    grow: 1,
    keeps: id === 'stream',
    raw: (tap) => tap[id],
    show: (tap) => <span className="truncate font-mono text-sm">{visibleText(tap[id] ?? '–')}</span>,
  });
}

export const MONITOR_COLUMNS: readonly Column<MonitorLine>[] = [
  column({ id: 'at', header: 'Time', width: 104, raw: ({ at }) => at, show: ({ at }) => <Time ms={at} /> }),
  column({
    id: 'direction',
    header: 'Direction',
    width: 108,
    raw: ({ direction }) => direction,
    show: ({ direction }) => (
      <span className="flex items-center gap-1 text-muted">
        {direction === 'inbound' ? <ArrowDownLeft size={14} /> : <ArrowUpRight size={14} />}
        {direction}
      </span>
    ),
  }),
  name('stream', 'Stream'),
  name('group', 'Group'),
  name('item', 'Item'),
  column({
    id: 'event',
    header: 'Event',
    width: 100,
    raw: ({ event }) => event,
    show: ({ event }, { missed }) => (
      <>
        <Badge tone={event === 'delete' ? 'bad' : event === 'create' ? 'good' : 'idle'}>{visibleText(event)}</Badge>
        {missed > 0 && <Badge tone="warn">{formatCount(missed)} missed before</Badge>}
      </>
    ),
  }),
  column({
    id: 'bytes',
    header: 'Size',
    width: 80,
    align: 'right',
    raw: ({ bytes }) => bytes,
    show: ({ bytes }) => formatBytes(bytes),
  }),
  column({
    id: 'preview',
    header: 'Message',
    width: 200,
    grow: 3,
    keeps: true,
    raw: previewOf,
    show: (tap) => (
      <span className="truncate font-mono text-sm text-muted">
        {tap.payload === undefined ? 'too large to be shown live' : visibleText(contentOf(tap).slice(0, PREVIEW_CHARS))}
      </span>
    ),
  }),
  column({
    id: 'receivers',
    header: 'Receivers',
    width: 88,
    align: 'right',
    optional: true,
    raw: ({ receivers }) => receivers,
    show: ({ receivers }) => formatCount(receivers),
  }),
  column({
    id: 'seq',
    header: 'Sequence',
    width: 88,
    align: 'right',
    raw: ({ seq }) => seq,
    show: ({ seq }) => (seq === null ? <span className="text-faint">–</span> : seq),
  }),
  column({
    id: 'epoch',
    header: 'Epoch',
    width: 88,
    optional: true,
    raw: ({ epoch }) => epoch,
    show: ({ epoch }) => <span className="truncate font-mono text-sm">{epoch ?? '–'}</span>,
  }),
];
