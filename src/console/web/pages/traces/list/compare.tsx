// Compares an open trace with an earlier one of the same root: new, missing, slower and faster spans (TRC-18).

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { traceIdIn } from '../../../app/palette-match.ts';
import { call, isNotFound } from '../../../data/api.ts';
import { formatCount, formatDuration } from '../../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading } from '../../../kit/feedback/empty-state.tsx';
import { Status, type Tone } from '../../../kit/feedback/status.tsx';
import { Button } from '../../../kit/inputs/button.tsx';
import { Field, Input } from '../../../kit/inputs/field.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import type { Column } from '../../../kit/table/column.ts';
import { Table } from '../../../kit/table/table.tsx';
import { rootName } from '../logic/critical-path.ts';
import type { TraceColumns } from '../logic/trace-columns.ts';
import type { ComparedSpan, SpanChange } from '../logic/trace-compare.ts';
import type { TraceView } from '../logic/trace-session.ts';
import { type TraceClient, useTrace } from '../trace/use-trace.ts';
import { traceColumns } from './list-columns.tsx';

export interface CompareProps {
  readonly client: TraceClient;
  readonly view: TraceView;
  /** The trace to compare with, once it is chosen. */
  readonly other: string | undefined;
  readonly onOther: (traceId: string | undefined) => void;
  readonly onlyChanges: boolean;
  readonly onSelect: (row: number) => void;
}

export function Compare({ other, ...rest }: CompareProps): ReactNode {
  return other === undefined ? <Choose {...rest} /> : <Comparison key={other} other={other} {...rest} />;
}

const OFFERED = 50;

function Choose({ view, onOther }: Omit<CompareProps, 'other'>): ReactNode {
  const name = rootName(view.columns);
  const { traceId } = view.columns;
  const { data, error, refetch } = useQuery({
    queryKey: ['traces', 'like', name],
    queryFn: ({ signal }) => call('POST /traces/search', { body: { name, limit: OFFERED }, signal }),
  });
  const items = useMemo(
    () => (data?.items ?? []).filter((row) => row.name === name && row.trace_id !== traceId),
    [data, name, traceId],
  );
  const columns = useMemo(() => traceColumns(items.reduce((max, row) => Math.max(max, row.duration_ms), 0)), [items]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PasteId onOther={onOther} />
      {data === undefined && error === null && <Loading what="traces of the same root" />}
      {data === undefined && error !== null && (
        <FailedState error={error} what="Traces" shows="traces of the same root" retry={() => void refetch()} />
      )}
      {data !== undefined && items.length === 0 && (
        <EmptyState title="No other trace has this root">
          <p>Call it once more, and the trace of that call is offered here.</p>
        </EmptyState>
      )}
      {items.length > 0 && (
        <div className="min-h-0 flex-1">
          <Table
            name="traces-to-compare"
            label="Traces to compare with"
            columns={columns}
            rows={items}
            keyOf={({ trace_id }) => trace_id}
            onOpen={({ trace_id }) => onOther(trace_id)}
          />
        </div>
      )}
    </div>
  );
}

function PasteId({ onOther }: Pick<CompareProps, 'onOther'>): ReactNode {
  const [text, setText] = useState('');
  const id = traceIdIn(text);
  return (
    <form
      className="flex items-end gap-2 border-b border-line px-4 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (id !== undefined) onOther(id);
      }}
    >
      <Field label="Compare with the trace of this id, or with one below" className="w-80 max-w-full">
        {(ids) => <Input {...ids} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <Button type="submit" disabled={id === undefined}>
        Compare
      </Button>
    </form>
  );
}

type ComparisonProps = CompareProps & { readonly other: string };

function Comparison({ client, view, other, onOther, onlyChanges, onSelect }: ComparisonProps): ReactNode {
  const trace = useTrace({ from: 'engine', traceId: other });
  const before = trace.view;
  const lines = useLines(client, view, before?.columns);
  const shown = useMemo(
    () => lines?.filter(({ change }) => !onlyChanges || change !== 'same') ?? [],
    [lines, onlyChanges],
  );
  if (isNotFound(trace.error) || before?.columns.count === 0) {
    return (
      <EmptyState title="The other trace is not stored">
        <p>It was never sampled, or newer traces have replaced it.</p>
        <Button onClick={() => onOther(undefined)}>Choose another trace</Button>
      </EmptyState>
    );
  }
  if (trace.error !== undefined) {
    return <FailedState error={trace.error} what="Traces" shows="the other trace" retry={trace.reload} />;
  }
  if (before === undefined || lines === undefined) return <Loading what="the other trace" />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 text-sm">
        <span role="status">{summary(lines)}</span>
        <Warnings before={before} after={view} />
        <span className="flex-1" />
        <Button onClick={() => onOther(undefined)}>Choose another trace</Button>
      </div>
      <div className="min-h-0 flex-1">
        <Table
          name="trace-compare"
          label="Spans of both traces"
          columns={COMPARE_COLUMNS}
          rows={shown}
          keyOf={keyOf}
          onOpen={({ row }) => row !== undefined && onSelect(row)}
        />
      </div>
    </div>
  );
}

const keyOf = ({ key }: Line): string => key;

/** Aligned by the worker thread of the open trace. */
function useLines(client: TraceClient, view: TraceView, before: TraceColumns | undefined): readonly Line[] | undefined {
  const [lines, setLines] = useState<readonly Line[]>();
  useEffect(() => {
    if (before === undefined) return;
    let isCurrent = true;
    void client
      .ask({ op: 'compare', before })
      .then((compared) => isCurrent && view !== undefined && setLines(keyedLines(compared)));
    return () => {
      isCurrent = false;
    };
  }, [client, view, before]);
  return lines;
}

function Warnings({ before, after }: { readonly before: TraceView; readonly after: TraceView }): ReactNode {
  const isPart = [before, after].some(({ totalSpans, columns }) => totalSpans > columns.spanCount);
  return (
    <>
      {rootName(before.columns) !== rootName(after.columns) && (
        <span className="text-warn">The two traces have different roots</span>
      )}
      {isPart && <span className="text-warn">Only the spans that are loaded are compared</span>}
    </>
  );
}

function summary(lines: readonly ComparedSpan[]): string {
  const of = (change: ComparedSpan['change']): number => lines.filter((line) => line.change === change).length;
  const words = (['slower', 'faster', 'added', 'missing'] as const)
    .map((change) => ({ change, count: of(change) }))
    .filter(({ count }) => count > 0)
    .map(({ change, count }) => `${formatCount(count)} ${change}`);
  return words.length === 0 ? 'No span differs' : words.join(', ');
}

/** Its index in the whole comparison is its key: names are not unique. */
type Line = ComparedSpan & { readonly key: string };

function keyedLines(compared: readonly ComparedSpan[]): readonly Line[] {
  return compared.map((line, at) => ({ ...line, key: String(at) }));
}

const CHANGES: Readonly<Record<SpanChange, { readonly tone: Tone; readonly word: string }>> = {
  same: { tone: 'idle', word: 'Same' },
  slower: { tone: 'bad', word: 'Slower' },
  faster: { tone: 'good', word: 'Faster' },
  added: { tone: 'busy', word: 'Added' },
  missing: { tone: 'warn', word: 'Missing' },
};

const INDENT_PX = 14;
const INDENTS_MAX = 20;

const COMPARE_COLUMNS: readonly Column<Line>[] = [
  {
    id: 'change',
    header: 'Change',
    width: 110,
    keeps: true,
    cell: ({ change }) => <Status {...CHANGES[change]} />,
    text: ({ change }) => change,
  },
  { id: 'span', header: 'Span', width: 320, grow: 3, keeps: true, cell: spanCell, text: ({ name }) => name },
  {
    id: 'service',
    header: 'Service',
    width: 140,
    cell: ({ service }) => <span className="truncate">{visibleText(service)}</span>,
    text: ({ service }) => service,
  },
  {
    id: 'before',
    header: 'Other trace',
    width: 110,
    align: 'right',
    cell: ({ beforeMs }) => durationOr(beforeMs),
    text: ({ beforeMs }) => beforeMs ?? null,
  },
  {
    id: 'after',
    header: 'This trace',
    width: 110,
    align: 'right',
    cell: ({ afterMs }) => durationOr(afterMs),
    text: ({ afterMs }) => afterMs ?? null,
  },
  {
    id: 'difference',
    header: 'Difference',
    width: 120,
    align: 'right',
    cell: (line) => {
      const moreMs = differenceMs(line);
      if (moreMs === undefined) return '–';
      return `${moreMs < 0 ? '−' : '+'}${formatDuration(Math.abs(moreMs))}`;
    },
    text: (line) => differenceMs(line) ?? null,
  },
];

function spanCell({ name, depth, change }: Line): ReactNode {
  return (
    <span
      className={change === 'missing' ? 'truncate text-muted line-through' : 'truncate'}
      style={{ paddingLeft: Math.min(depth, INDENTS_MAX) * INDENT_PX }}
    >
      {visibleText(name)}
    </span>
  );
}

function durationOr(ms: number | undefined): string {
  return ms === undefined ? '–' : formatDuration(ms);
}

function differenceMs({ beforeMs, afterMs }: Line): number | undefined {
  return beforeMs === undefined || afterMs === undefined ? undefined : afterMs - beforeMs;
}
