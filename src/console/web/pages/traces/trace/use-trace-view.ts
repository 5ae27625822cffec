// What the views of an open trace share:
//
// - its address: everything that another user of the link should see (console rule 1)
// - which rows of the tree are open: by level, by hand, folded or not, and the "only" filters (TRC-5, TRC-8, TRC-10)
// - find in trace: the worker searches while the user types, and matches can be stepped through (TRC-8)
// - its logs, and their position on the time axis (TRC-5)
// - its keys: zoom, pan, matches, errors (console 3.1)

import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { LogRow } from '../../../../api/telemetry.ts';
import { useKeys } from '../../../app/keys.ts';
import { call } from '../../../data/api.ts';
import { param } from '../../../data/search.ts';
import { panned, type TimeRange, zoomed } from '../../../kit/charts/time-scale.ts';
import { flip } from '../../../kit/table/selection.ts';
import { FLAG } from '../logic/trace-columns.ts';
import { nextMatch } from '../logic/trace-find.ts';
import { shownMs } from '../logic/trace-gaps.ts';
import { errorRows, type RowsView, visibleRows } from '../logic/trace-rows.ts';
import type { TraceView } from '../logic/trace-session.ts';
import { SPAN_TABS } from '../views/span-panel.tsx';
import type { TraceClient } from './use-trace.ts';

export const TRACE_MODES = ['waterfall', 'flame', 'services', 'map', 'compare'] as const;

export const TRACE_SEARCH = {
  view: param.choice(TRACE_MODES),
  span: param.optional(),
  tab: param.choice(SPAN_TABS),
  /** Milliseconds from the start of the trace. */
  from: param.number(),
  to: param.number(),
  q: param.text(),
  level: param.number(),
  only: param.choice(['all', 'errors', 'path', 'found']),
  path: param.flag(true),
  logs: param.flag(true),
  fold: param.flag(true),
  clocks: param.flag(),
  /** Caller and handler as rows of their own. */
  sides: param.flag(),
  /** Long pauses take little of the axis. */
  gaps: param.flag(true),
  order: param.choice(['time', 'name']),
  by: param.choice(['service', 'function']),
  /** The trace that this one is compared with, and whether only differences are shown. */
  with: param.optional(),
  changes: param.flag(true),
  /** Attributes shown next to the bars. */
  cols: param.list(),
};

export interface RowsState {
  readonly rowsView: RowsView;
  readonly toggle: (row: number) => void;
  readonly toggleFold: (key: string) => void;
  /** Opens the rows that hide a row. */
  readonly reveal: (row: number) => void;
  readonly forget: () => void;
}

export function useRowsView(
  { columns, path }: TraceView,
  level: number | undefined,
  only: 'all' | 'errors' | 'path' | 'found',
  isFolding: boolean,
  found: Uint8Array | null,
): RowsState {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [openFolds, setOpenFolds] = useState<ReadonlySet<string>>(new Set());
  const rowsView: RowsView = useMemo(() => {
    const shown = { all: null, errors: errorRows(columns), path: path.isOnPath, found }[only];
    // Matches are shown one by one, wherever they are (TRC-8).
    return { level: level ?? null, toggled, openFolds, isFolding: isFolding && only === 'all', only: shown };
  }, [columns, path, level, only, isFolding, toggled, openFolds, found]);
  return {
    rowsView,
    toggle: (row) => setToggled((now) => flip(now, columns.ids[row] ?? '')),
    toggleFold: (key) => setOpenFolds((now) => flip(now, key)),
    reveal: (row) => {
      const opened = new Set(toggled);
      for (let at = columns.parent[row] ?? -1; at !== -1; at = columns.parent[at] ?? -1) {
        const id = columns.ids[at] ?? '';
        const isOpenByLevel = level === undefined || (columns.depth[at] ?? 0) < level;
        if (isOpenByLevel) opened.delete(id);
        else opened.add(id);
      }
      setToggled(opened);
      const hiding = visibleRows(columns, { ...rowsView, toggled: opened }).folds.find((fold) =>
        fold.members.includes(row),
      );
      if (hiding !== undefined && !hiding.isOpen) setOpenFolds((now) => new Set(now).add(hiding.key));
    },
    forget: () => setToggled(new Set()),
  };
}

export interface Find {
  /** `null` while there is no search. */
  readonly found: Uint8Array | null;
  /** The same, but `null` while nothing matches: a search without a match dims nothing. */
  readonly shown: Uint8Array | null;
  readonly count: number;
  readonly next: (from: number | undefined, step: 1 | -1) => number | undefined;
}

export function useFind(client: TraceClient, view: TraceView, query: string, logs: readonly LogRow[]): Find {
  const [found, setFound] = useState<Uint8Array | null>(null);
  useEffect(() => {
    if (query.trim() === '') {
      setFound(null);
      return;
    }
    let isCurrent = true;
    const texts = logs.flatMap(({ span_id: id, body }) =>
      id === null ? [] : [{ spanId: view.mergedInto.get(id) ?? id, text: body }],
    );
    client.ask({ op: 'find', query, logs: texts }).then(
      (next) => isCurrent && next.length === view.columns.count && setFound(next),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [client, view, query, logs]);
  const isCurrent = found !== null && found.length === view.columns.count;
  const count = isCurrent ? found.reduce((sum, one) => sum + one, 0) : 0;
  return {
    found: isCurrent ? found : null,
    shown: isCurrent && count > 0 ? found : null,
    count,
    next: (from, step) => (isCurrent ? nextMatch(found, from ?? (step === 1 ? -1 : 0), step) : undefined),
  };
}

/** The logs of the trace. Without a log store there are none, which is not an error. */
export function useTraceLogs(traceId: string | undefined, isRunning: boolean): readonly LogRow[] {
  const { data } = useQuery({
    queryKey: ['trace-logs', traceId],
    queryFn: ({ signal }) =>
      call('POST /logs/search', { body: { trace_id: traceId ?? '', limit: 1_000, order: 'asc' }, signal }),
    enabled: traceId !== undefined,
    retry: false,
    refetchInterval: isRunning ? 2_000 : false,
  });
  return data?.items ?? NO_LOGS;
}

const NO_LOGS: readonly LogRow[] = [];

export function logDots(
  { columns, gaps, mergedInto }: TraceView,
  logs: readonly LogRow[],
): { row: number; ms: number }[] {
  if (logs.length === 0) return [];
  const rowOf = new Map(columns.ids.map((id, row) => [id, row]));
  return logs.flatMap((log) => {
    const id = mergedInto.get(log.span_id ?? '') ?? log.span_id;
    const row = id === null ? undefined : rowOf.get(id);
    const ms = (log.timestamp_unix_nano - columns.startUnixNano) / 1e6;
    return row === undefined ? [] : [{ row, ms: shownMs(gaps, ms) }];
  });
}

export interface TraceKeys {
  readonly view: TraceView;
  readonly range: TimeRange;
  readonly whole: TimeRange;
  readonly setRange: (range: TimeRange) => void;
  readonly selected: number | undefined;
  readonly select: (row: number) => void;
  readonly find: Find;
}

const ZOOM_STEP = 1.5;
const PAN_SHARE = 0.2;

export function useTraceKeys({ view, range, whole, setRange, selected, select, find }: TraceKeys): void {
  const zoom = (factor: number): void => setRange(zoomed(range, whole, (range.fromMs + range.toMs) / 2, factor));
  const pan = (share: number): void => setRange(panned(range, whole, share * (range.toMs - range.fromMs)));
  const go = (row: number | undefined): void => {
    if (row !== undefined) select(row);
  };
  useKeys([
    { keys: ['w'], name: 'Zoom in', run: () => zoom(1 / ZOOM_STEP) },
    { keys: ['s'], name: 'Zoom out', run: () => zoom(ZOOM_STEP) },
    { keys: ['a'], name: 'Earlier', run: () => pan(-PAN_SHARE) },
    { keys: ['d'], name: 'Later', run: () => pan(PAN_SHARE) },
    { keys: ['0'], name: 'The whole trace', run: () => setRange(whole) },
    { keys: ['f'], name: 'Next match', run: () => go(find.next(selected, 1)) },
    { keys: ['b'], name: 'Previous match', run: () => go(find.next(selected, -1)) },
    { keys: ['shift+E'], name: 'Next error', run: () => go(nextError(view, selected)) },
  ]);
}

export function nextError({ columns }: TraceView, selected: number | undefined): number | undefined {
  for (let tried = 1; tried <= columns.count; tried += 1) {
    const row = ((selected ?? -1) + tried) % columns.count;
    if (((columns.flags[row] ?? 0) & FLAG.error) !== 0) return row;
  }
  return undefined;
}
