// The header of an open trace: its facts, and actions on the whole trace.

import { Link } from '@tanstack/react-router';
import { ArrowLeft, Download, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { callText } from '../../../data/api.ts';
import { Time } from '../../../kit/charts/time.tsx';
import { formatCount, formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import { Badge, WordStatus } from '../../../kit/feedback/status.tsx';
import { toast } from '../../../kit/feedback/toast.tsx';
import { Button, IconButton } from '../../../kit/inputs/button.tsx';
import { CopyId, download } from '../../../kit/inputs/copy.tsx';
import { Menu } from '../../../kit/inputs/menu.tsx';
import type { LoadedProps } from './trace-page.tsx';

export function TraceNote({ view, isFile }: LoadedProps & { readonly isFile: boolean }): ReactNode {
  const { columns, movedCount, totalSpans } = view;
  const word = columns.pendingCount > 0 ? 'pending' : columns.errorCount > 0 ? 'error' : 'ok';
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      <WordStatus
        word={word}
        title={columns.errorCount > 0 ? `${formatCountOf(columns.errorCount, 'span')} failed` : undefined}
      />
      <span className="font-medium text-text">{formatDuration(columns.durationMs)}</span>
      <span>
        {totalSpans > columns.spanCount && `${formatCount(columns.spanCount)} of `}
        {formatCountOf(Math.max(totalSpans, columns.spanCount), 'span')}
      </span>
      <span>{formatCountOf(columns.services.length, 'service')}</span>
      <Time ms={columns.startUnixNano / 1e6} />
      <CopyId id={columns.traceId} what="trace id" className="max-w-44" />
      {isFile && <Badge tone="busy">From a file, not stored</Badge>}
      {movedCount > 0 && <Badge tone="warn">{formatCountOf(movedCount, 'span')} moved: clocks corrected</Badge>}
    </div>
  );
}

export function TraceActions({ view, trace, isFile }: LoadedProps & { readonly isFile: boolean }): ReactNode {
  const { traceId } = view.columns;
  const save = async (format: 'otlp' | 'chrome'): Promise<void> => {
    try {
      const { text } = await callText('GET /traces/{id}/export', { parts: { id: traceId }, query: { format } });
      download(`trace-${traceId.slice(0, 8)}.${format}.json`, 'application/json', text);
    } catch (error) {
      toast({ tone: 'bad', text: `Export failed: ${error instanceof Error ? error.message : String(error)}` });
    }
  };
  return (
    <div className="flex items-center gap-1">
      <Link to="/traces" className="inline-flex items-center gap-1 px-2 text-sm text-accent hover:underline">
        <ArrowLeft size={13} /> All traces
      </Link>
      {!isFile && (
        <>
          <Menu
            trigger={<Button icon={<Download size={14} />}>Export</Button>}
            items={[
              { label: 'OTLP JSON', run: () => void save('otlp') },
              { label: 'Chrome trace events (Perfetto)', run: () => void save('chrome') },
            ]}
          />
          <IconButton label="Read the trace again" onClick={trace.reload}>
            <RotateCw size={14} />
          </IconButton>
        </>
      )}
    </div>
  );
}
