// The messages of the monitor: the columns of their table, and the detail of one with its receivers, its content, and
// for an update the difference from before (STR-2).

import { Link } from '@tanstack/react-router';
import { ArrowDownLeft, ArrowUpRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { StreamTap } from '../../../api/live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { Badge } from '../../kit/feedback/status.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Properties } from '../../kit/layout/page.tsx';
import type { Column } from '../../kit/table/column.ts';
import { contentOf, type MonitorLine, type MonitorMessage, previewOf, previousOfItem } from './stream-messages.ts';

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

interface MessagePanelProps {
  readonly message: MonitorMessage;
  readonly taps: readonly StreamTap[];
  readonly onClose: () => void;
}

export function MessagePanel({ message, taps, onClose }: MessagePanelProps): ReactNode {
  const { tap, missed } = message;
  const before = tap.event === 'update' ? previousOfItem(taps, tap) : undefined;
  const rows: [string, ReactNode][] = [
    ['Time', <Time key="at" ms={tap.at} />],
    ['Direction', tap.direction],
    ['Stream', visibleText(tap.stream)],
    ['Group', visibleText(tap.group)],
    ['Item', visibleText(tap.item ?? '–')],
    ['Event', visibleText(tap.event)],
    ['Size', formatBytes(tap.bytes)],
    ['Receivers', formatCount(tap.receivers)],
  ];
  if (tap.seq !== null) rows.push(['Sequence', missed > 0 ? `${tap.seq}, ${missed} missed before it` : tap.seq]);
  if (tap.epoch !== null) rows.push(['Epoch', tap.epoch]);
  return (
    <DetailPanel
      label={`Message ${message.id}`}
      title={`${visibleText(tap.stream)} ${visibleText(tap.event)}`}
      onClose={onClose}
    >
      <div className="flex flex-col gap-3 p-3">
        <Properties rows={rows} />
        {tap.item !== null && tap.event !== 'delete' && (
          <Link
            to="/streams"
            search={{ tab: 'browse', stream: tap.stream, group: tap.group, item: tap.item }}
            className="text-accent hover:underline"
          >
            Open the item
          </Link>
        )}
        {tap.payload === undefined ? (
          <p className="text-muted">The message has {formatBytes(tap.bytes)}: content above 64 KiB is not sent live.</p>
        ) : (
          <JsonTree label="message" text={previewOf(tap)} depth={4} />
        )}
        {before !== undefined && (
          <section aria-label="Difference" className="flex flex-col gap-1">
            <h3 className="text-sm font-medium">Difference from the previous message of this item</h3>
            <JsonDiff label="Difference" before={previewOf(before)} after={previewOf(tap)} />
          </section>
        )}
      </div>
    </DetailPanel>
  );
}
