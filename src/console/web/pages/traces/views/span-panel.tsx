// One span, next to its trace (TRC-15, TRC-17): its facts, its logs and errors, its links.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { LogRow } from '../../../../api/telemetry.ts';
import { call } from '../../../data/api.ts';
import { Time } from '../../../kit/charts/time.tsx';
import { formatDuration } from '../../../kit/charts/times.ts';
import { FailedState, Loading } from '../../../kit/feedback/empty-state.tsx';
import { WordStatus } from '../../../kit/feedback/status.tsx';
import { CopyId } from '../../../kit/inputs/copy.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../../kit/layout/detail-panel.tsx';
import { Properties } from '../../../kit/layout/page.tsx';
import { Tabs } from '../../../kit/layout/tabs.tsx';
import { RunPayloads } from '../../functions/run-payloads.tsx';
import { rowWords } from '../logic/span-words.ts';
import { FLAG } from '../logic/trace-columns.ts';
import { realMs } from '../logic/trace-gaps.ts';
import type { TraceView } from '../logic/trace-session.ts';
import { baggageOf, errorsOf, functionOf, isCallSpan, neighboursOf, type Span, tagsOf } from '../logic/trace-span.ts';
import type { TraceClient } from '../trace/use-trace.ts';
import { type AttributeActions, AttributeList } from './attribute-list.tsx';
import { SpanErrors, SpanLinks, SpanLogs } from './span-tabs.tsx';

export const SPAN_TABS = ['info', 'payloads', 'tags', 'logs', 'errors', 'baggage', 'links'] as const;
export type SpanTab = (typeof SPAN_TABS)[number];

export interface SpanPanelProps {
  readonly client: TraceClient;
  readonly view: TraceView;
  readonly row: number;
  readonly tab: SpanTab;
  readonly onTab: (tab: SpanTab) => void;
  readonly onClose: () => void;
  readonly onSelectSpan: (spanId: string) => void;
  readonly logs: readonly LogRow[];
  readonly attributeActions: AttributeActions;
  readonly isFile: boolean;
}

export function SpanPanel(props: SpanPanelProps): ReactNode {
  const { view, row } = props;
  const { columns } = view;
  const name = rowWords(columns, row);
  const spanId = columns.ids[row] ?? '';
  return (
    <DetailPanel
      label={`Span ${name}`}
      title={<span className="block truncate">{visibleText(name)}</span>}
      onClose={props.onClose}
    >
      {((columns.flags[row] ?? 0) & FLAG.unknownParent) === 0 ? (
        <SpanBody {...props} />
      ) : (
        <p className="p-4 text-muted">
          Spans below name <CopyId id={spanId} what="span id" /> as their parent, but it never arrived: it was not
          sampled, was lost on the way, or belongs to a service that does not report here.
        </p>
      )}
    </DetailPanel>
  );
}

function SpanBody(props: SpanPanelProps): ReactNode {
  const { view, row, tab, onTab, logs } = props;
  const spanId = view.columns.ids[row] ?? '';
  const { span, error, refetch } = useSpan(props, spanId);
  if (span === undefined) {
    if (error === null) return <Loading what="the span" />;
    return <FailedState error={error} what="The span" shows="its attributes" retry={refetch} />;
  }
  const own = logs.filter((log) => (view.mergedInto.get(log.span_id ?? '') ?? log.span_id) === spanId);
  const errors = errorsOf(span);
  const baggage = baggageOf(span);
  const tags = tagsOf(span);
  const tabs = [
    { id: 'info' as const, label: 'Info' },
    ...(isCallSpan(span) && !props.isFile ? [{ id: 'payloads' as const, label: 'Payloads' }] : []),
    { id: 'tags' as const, label: 'Tags', count: tags.length },
    { id: 'logs' as const, label: 'Logs', count: own.length + span.events.length },
    { id: 'errors' as const, label: 'Errors', count: errors.length },
    { id: 'baggage' as const, label: 'Baggage', count: baggage.length },
    { id: 'links' as const, label: 'Links', count: span.links.length },
  ];
  return (
    <Tabs label="About the span" tabs={tabs} value={tab} onChange={onTab}>
      <div className="p-3">
        {tab === 'info' && <SpanInfo {...props} span={span} own={own} />}
        {tab === 'payloads' && <RunPayloads traceId={span.trace_id} spanId={span.span_id} />}
        {tab === 'tags' && (
          <AttributeList pairs={tags} empty="This span has no attributes." actions={props.attributeActions} />
        )}
        {tab === 'logs' && <SpanLogs span={span} logs={own} startUnixNano={view.columns.startUnixNano} />}
        {tab === 'errors' && <SpanErrors errors={errors} />}
        {tab === 'baggage' && (
          <AttributeList pairs={baggage} empty="No baggage came with this span." actions={undefined} />
        )}
        {tab === 'links' && <SpanLinks links={span.links} />}
      </div>
    </Tabs>
  );
}

interface SpanAnswer {
  readonly span: Span | undefined;
  readonly error: unknown;
  readonly refetch: () => void;
}

/** From the worker, or from the server where the trace was read without attributes. */
function useSpan({ client, view, row, isFile }: SpanPanelProps, spanId: string): SpanAnswer {
  const [held, setHeld] = useState<{ readonly id: string; readonly span: Span | null }>();
  useEffect(() => {
    let isCurrent = true;
    const ask = client.ask({ op: 'span', row });
    ask.then(
      (span) => isCurrent && view !== undefined && setHeld({ id: spanId, span }),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [client, view, row, spanId]);
  const { traceId } = view.columns;
  const isAsked = view.isCondensed && !isFile;
  const whole = useQuery({
    queryKey: ['span', traceId, spanId],
    queryFn: ({ signal }) => call('GET /traces/{id}/spans/{span}', { parts: { id: traceId, span: spanId }, signal }),
    enabled: isAsked,
  });
  const own = held?.id === spanId ? (held.span ?? undefined) : undefined;
  return {
    span: isAsked ? whole.data : own,
    error: isAsked ? whole.error : null,
    refetch: () => void whole.refetch(),
  };
}

type SpanInfoProps = SpanPanelProps & { readonly span: Span; readonly own: readonly LogRow[] };

function SpanInfo({ view, row, span, own, onSelectSpan, onTab }: SpanInfoProps): ReactNode {
  const { columns } = view;
  const flags = columns.flags[row] ?? 0;
  const ms = (nano: number): number => nano / 1e6;
  const [firstError] = errorsOf(span);
  return (
    <div className="flex flex-col gap-4">
      {firstError !== undefined && (
        <button
          type="button"
          onClick={() => onTab('errors')}
          className="rounded-md border border-bad bg-bad-soft p-2 text-left break-words text-bad"
        >
          {visibleText(firstError.message) || visibleText(firstError.type) || 'The span failed'}
        </button>
      )}
      <Properties
        rows={[
          ['Service', visibleText(span.service_name)],
          ['Status', <WordStatus key="status" word={span.pending === true ? 'pending' : span.status} />],
          ['Duration', durationText(view, row)],
          ...workerTimes(view, row),
          ['Self time', formatDuration(columns.selfMs[row] ?? 0)],
          [
            'Starts',
            <StartTime
              key="start"
              span={span}
              offsetMs={realMs(view.gaps, columns.startMs[row] ?? 0)}
              ms={ms(span.start_time_unix_nano)}
            />,
          ],
          ['Critical path', view.path.isOnPath[row] === 1 ? 'yes' : 'no'],
          ...clockProperties(flags),
          ['Span id', <CopyId key="id" id={span.span_id} what="span id" />],
          [
            'Parent',
            span.parent_span_id === null ? (
              'none: a root'
            ) : (
              <CopyId
                key="parent"
                id={span.parent_span_id}
                what="parent span id"
                onOpen={() => onSelectSpan(span.parent_span_id ?? '')}
              />
            ),
          ],
          ...scopeProperties(span),
        ]}
      />
      <Neighbours span={span} />
      <SpanActions span={span} own={own} />
    </div>
  );
}

function SpanActions({ span, own }: Pick<SpanInfoProps, 'span' | 'own'>): ReactNode {
  const functionId = functionOf(span);
  return (
    <div className="flex flex-wrap gap-3 text-sm">
      {own[0]?.span_id != null && (
        <Link
          to="/logs"
          search={{ trace: span.trace_id, span: own[0].span_id }}
          className="text-accent hover:underline"
        >
          Logs of this span
        </Link>
      )}
      {functionId !== undefined && (
        <Link
          to="/functions"
          search={{ id: functionId, tab: 'invoke', again: `${span.trace_id}.${span.span_id}` }}
          className="inline-flex items-center gap-1 text-accent hover:underline"
        >
          <Play size={12} /> Run {visibleText(functionId)} again
        </Link>
      )}
    </div>
  );
}

/** Of a row that stands for caller and handler: how long the worker took, and what came before and after. */
function workerTimes({ columns }: TraceView, row: number): [string, string][] {
  const [from, to] = [columns.innerFromMs[row] ?? Number.NaN, columns.innerToMs[row] ?? Number.NaN];
  if (Number.isNaN(from)) return [];
  const before = formatDuration(Math.max(0, from - (columns.startMs[row] ?? 0)));
  const after = formatDuration(Math.max(0, (columns.endMs[row] ?? 0) - to));
  return [['In the worker', `${formatDuration(to - from)}, ${before} until it began, ${after} until the answer came`]];
}

function durationText({ columns }: TraceView, row: number): string {
  const text = formatDuration((columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0));
  return ((columns.flags[row] ?? 0) & FLAG.pending) === 0 ? text : `${text} so far`;
}

function StartTime({
  span,
  offsetMs,
  ms,
}: {
  readonly span: Span;
  readonly offsetMs: number;
  readonly ms: number;
}): ReactNode {
  return (
    <span>
      {formatDuration(offsetMs)} into the trace,{' '}
      <Time ms={ms} nanos={BigInt(Math.round(span.start_time_unix_nano)).toString()} />
    </span>
  );
}

function clockProperties(flags: number): [string, string][] {
  if ((flags & FLAG.startsBeforeParent) !== 0) return [['Clock', 'Starts before its parent: the clocks differ']];
  return (flags & FLAG.outlivesParent) === 0 ? [] : [['Clock', 'Ends after its parent, which did not wait for it']];
}

function scopeProperties(span: Span): [string, string][] {
  if (span.instrumentation_scope_name === undefined || span.instrumentation_scope_name === '') return [];
  return [['Made by', `${visibleText(span.instrumentation_scope_name)} ${span.instrumentation_scope_version ?? ''}`]];
}

function Neighbours({ span }: { readonly span: Span }): ReactNode {
  const found = neighboursOf(span);
  if (found.length === 0) return undefined;
  return (
    <Properties
      rows={found.map(({ label, value, to, search }) => [
        label,
        <CopyId key={label} id={value} what={label.toLowerCase()} to={to} search={search} />,
      ])}
    />
  );
}
