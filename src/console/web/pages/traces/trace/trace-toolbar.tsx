// The header of an open trace with actions on the whole trace, and its toolbar: the view, the search, the level, the
// options.

import { Link } from '@tanstack/react-router';
import {
  ArrowLeft,
  ChevronDown,
  ChevronUp,
  Download,
  Maximize,
  RotateCw,
  Settings2,
  ZoomIn,
  ZoomOut,
} from 'lucide-react';
import { type ReactNode, useCallback } from 'react';
import { callText } from '../../../data/api.ts';
import type { SearchState, SearchValues } from '../../../data/search.ts';
import { Time } from '../../../kit/charts/time.tsx';
import { type TimeRange, zoomed } from '../../../kit/charts/time-scale.ts';
import { formatCount, formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import { Announce } from '../../../kit/feedback/live-changes.tsx';
import { Badge, WordStatus } from '../../../kit/feedback/status.tsx';
import { toast } from '../../../kit/feedback/toast.tsx';
import { Button, IconButton } from '../../../kit/inputs/button.tsx';
import { CopyId, download } from '../../../kit/inputs/copy.tsx';
import { Segments, Select, Toggle } from '../../../kit/inputs/field.tsx';
import { SearchInput } from '../../../kit/inputs/filter-bar.tsx';
import { Menu } from '../../../kit/inputs/menu.tsx';
import { Flyout } from '../../../kit/layout/overlays.tsx';
import type { TraceView } from '../logic/trace-session.ts';
import { type Find, nextError, type TRACE_SEARCH } from './use-trace-view.ts';

interface TraceHeadProps {
  readonly view: TraceView;
  readonly isFile: boolean;
}

export function TraceNote({ view, isFile }: TraceHeadProps): ReactNode {
  const { columns, movedCount, totalSpans } = view;
  const word = columns.pendingCount > 0 ? 'pending' : columns.errorCount > 0 ? 'error' : 'ok';
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      <WordStatus
        word={word}
        title={columns.errorCount > 0 ? `${formatCountOf(columns.errorCount, 'span')} failed` : undefined}
      />
      <span className="font-medium text-text">{formatDuration(view.durationMs)}</span>
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

interface TraceActionsProps extends TraceHeadProps {
  readonly reload: () => void;
}

export function TraceActions({ view, isFile, reload }: TraceActionsProps): ReactNode {
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
          <IconButton label="Read the trace again" onClick={reload}>
            <RotateCw size={14} />
          </IconButton>
        </>
      )}
    </div>
  );
}

export interface TraceToolbarProps extends SearchState<typeof TRACE_SEARCH> {
  readonly search: SearchValues<typeof TRACE_SEARCH>;
  readonly find: Find;
  readonly select: (row: number) => void;
  readonly view: TraceView;
  readonly range: TimeRange;
  readonly whole: TimeRange;
  readonly setRange: (range: TimeRange) => void;
  readonly selected: number | undefined;
  readonly setLevel: (level: number | undefined) => void;
}

export function TraceToolbar(props: TraceToolbarProps): ReactNode {
  const { search, setSearch, view } = props;
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  return (
    <>
      <Segments
        label="Way to look at the trace"
        value={search.view}
        onChange={(mode) => setSearch({ view: mode }, { push: true })}
        choices={[
          { value: 'waterfall', label: 'Waterfall' },
          { value: 'flame', label: 'Flame graph' },
          { value: 'services', label: 'Services' },
          { value: 'map', label: 'Map' },
          { value: 'compare', label: 'Compare' },
        ]}
      />
      <SearchInput label="Find in trace" value={search.q} onChange={setQ} findsInView />
      <FindSteps {...props} />
      <div className="flex-1" />
      {view.columns.errorCount > 0 && (
        <Button
          look="ghost"
          className="text-bad"
          title="Next error (Shift+E)"
          onClick={() => go(props, nextError(view, props.selected))}
        >
          {formatCount(view.columns.errorCount)} {view.columns.errorCount === 1 ? 'error' : 'errors'}
        </Button>
      )}
      {search.view === 'compare' && search.with !== undefined && (
        <Toggle label="Only changes" checked={search.changes} onChange={(changes) => setSearch({ changes })} />
      )}
      {search.view === 'waterfall' && <LevelSteps {...props} />}
      {(search.view === 'waterfall' || search.view === 'flame') && <ZoomSteps {...props} />}
      <Options {...props} />
    </>
  );
}

function go({ select }: TraceToolbarProps, row: number | undefined): void {
  if (row !== undefined) select(row);
}

function FindSteps(props: TraceToolbarProps): ReactNode {
  const { search, find, selected } = props;
  if (search.q.trim() === '') return undefined;
  const count = find.count === 1 ? '1 match' : `${formatCount(find.count)} matches`;
  return (
    <div className="flex items-center gap-1 text-sm text-muted">
      <span>{count}</span>
      <Announce text={count} />
      <IconButton
        label="Previous match"
        hint="b"
        disabled={find.count === 0}
        onClick={() => go(props, find.next(selected, -1))}
      >
        <ChevronUp size={14} />
      </IconButton>
      <IconButton
        label="Next match"
        hint="f"
        disabled={find.count === 0}
        onClick={() => go(props, find.next(selected, 1))}
      >
        <ChevronDown size={14} />
      </IconButton>
    </div>
  );
}

function LevelSteps({ search, view, setLevel, setSearch }: TraceToolbarProps): ReactNode {
  const deepest = view.columns.depth.reduce((max, depth) => Math.max(max, depth), 0);
  const level = search.level ?? deepest;
  return (
    <div className="flex items-center gap-1">
      <Select
        aria-label="Spans shown"
        value={search.only}
        onChange={(event) => setSearch({ only: ONLY.find(([value]) => value === event.target.value)?.[0] ?? 'all' })}
      >
        {ONLY.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      <IconButton label="One level less" disabled={level <= 0} onClick={() => setLevel(Math.max(0, level - 1))}>
        <ChevronUp size={14} />
      </IconButton>
      <span className="w-14 text-center text-sm whitespace-nowrap text-muted">
        {search.level === undefined ? 'all levels' : `level ${search.level}`}
      </span>
      <IconButton
        label="One level more"
        disabled={search.level === undefined}
        onClick={() => setLevel(level + 1 >= deepest ? undefined : level + 1)}
      >
        <ChevronDown size={14} />
      </IconButton>
    </div>
  );
}

const ONLY = [
  ['all', 'All spans'],
  ['errors', 'Only errors'],
  ['path', 'Only critical path'],
  ['found', 'Only matches'],
] as const;

function ZoomSteps({ range, whole, setRange }: TraceToolbarProps): ReactNode {
  const zoom = (factor: number): void => setRange(zoomed(range, whole, (range.fromMs + range.toMs) / 2, factor));
  const isWhole = range.fromMs <= whole.fromMs && range.toMs >= whole.toMs;
  return (
    <div className="flex items-center">
      <IconButton label="Zoom in" hint="w" onClick={() => zoom(1 / 1.5)}>
        <ZoomIn size={15} />
      </IconButton>
      <IconButton label="Zoom out" hint="s" disabled={isWhole} onClick={() => zoom(1.5)}>
        <ZoomOut size={15} />
      </IconButton>
      <IconButton label="The whole trace" hint="0" disabled={isWhole} onClick={() => setRange(whole)}>
        <Maximize size={14} />
      </IconButton>
    </div>
  );
}

function Options({ search, setSearch, view }: TraceToolbarProps): ReactNode {
  return (
    <Flyout
      label="What is shown"
      className="flex w-72 flex-col gap-1"
      trigger={
        <IconButton label="What is shown">
          <Settings2 size={15} />
        </IconButton>
      }
    >
      <Toggle label="Critical path" checked={search.path} onChange={(path) => setSearch({ path })} />
      <Toggle label="Logs as dots" checked={search.logs} onChange={(logs) => setSearch({ logs })} />
      <Toggle label="Fold repeated siblings" checked={search.fold} onChange={(fold) => setSearch({ fold })} />
      <Toggle label="Show both sides of a call" checked={search.sides} onChange={(sides) => setSearch({ sides })} />
      <Toggle label="Shorten pauses" checked={search.gaps} onChange={(gaps) => setSearch({ gaps })} />
      <Toggle label="Correct clocks" checked={search.clocks} onChange={(clocks) => setSearch({ clocks })} />
      {search.cols.map((key) => (
        <Toggle
          key={key}
          label={`Column ${key}`}
          checked
          onChange={() => setSearch({ cols: search.cols.filter((one) => one !== key) })}
        />
      ))}
      <div className="mt-2 border-t border-line pt-2">
        <p className="mb-1 text-xs font-medium text-muted">Critical path by service</p>
        {view.pathShares.map(({ service, totalMs }) => (
          <p key={service} className="flex justify-between gap-3">
            <span className="truncate">{service}</span>
            <span>{formatDuration(totalMs)}</span>
          </p>
        ))}
      </div>
    </Flyout>
  );
}
