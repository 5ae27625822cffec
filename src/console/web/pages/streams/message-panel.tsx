// The detail of a message: its receivers, its content, and for an update the difference from before (STR-2).

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { StreamTap } from '../../../../console-api/live.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Facts } from '../../kit/layout/page.tsx';
import { type MonitorMessage, previewOf, previousOfItem } from './logic/stream-monitor.ts';

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
        <Facts rows={rows} />
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
