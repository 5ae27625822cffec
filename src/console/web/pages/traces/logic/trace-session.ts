// One open trace, as the worker holds it: spans come in (the whole, a level, live changes, a file), columns and
// everything drawn from them go out. The page keeps only columns and asks for a span when it is opened.

import type { SpanRecord } from '../../../../../core/telemetry/records/records.ts';
import { type CriticalPath, criticalPathOf, type PathShare, pathByService } from './critical-path.ts';
import { type FlameBlock, type FlameLayout, flameByName, flameLanes } from './flame-layout.ts';
import { buildTrace, type TraceColumns } from './trace-columns.ts';
import { type ComparedSpan, compareTraces } from './trace-compare.ts';
import { readTraceFile } from './trace-file.ts';
import { findInTrace, type SpanLogText } from './trace-find.ts';
import { findGaps, type Gap, shownMs, withoutGaps } from './trace-gaps.ts';
import { type ServiceFigures, serviceBreakdown, type TraceMap, traceMap } from './trace-services.ts';
import { attributeOf, type Span } from './trace-span.ts';
import { mergeSteps, type Steps } from './trace-steps.ts';
import { correctSkew, queueWaits, type Waits } from './trace-times.ts';

export interface TraceView {
  readonly columns: TraceColumns;
  readonly path: CriticalPath;
  readonly pathShares: readonly PathShare[];
  readonly lanes: FlameLayout;
  readonly waits: Waits;
  /** Of the trace; that of the columns is without the part of pauses that is not shown. */
  readonly durationMs: number;
  readonly gaps: readonly Gap[];
  /** The id of the row, by the id of a span that has none of its own. */
  readonly mergedInto: ReadonlyMap<string, string>;
  /** How many spans the clock correction moved; 0 while it is off. */
  readonly movedCount: number;
  /** Attributes and events are not here, but on the server. */
  readonly isCondensed: boolean;
  /** Of the whole trace; more than `columns.spanCount` while levels are missing. */
  readonly totalSpans: number;
}

/** How spans become rows and times become places. */
export interface Arrangement {
  readonly correctsClocks: boolean;
  /** Caller and handler are two rows. */
  readonly showsBothSides: boolean;
  readonly shortensGaps: boolean;
}

/** `GET /traces/{id}` answers in this shape. */
interface Answer {
  readonly spans: readonly Span[];
  readonly span_count: number;
  readonly condensed: boolean;
}

export type TraceRequest =
  | { readonly op: 'load'; readonly text: string; readonly from: 'engine' | 'file' }
  /** A level below a span, or the whole trace again. */
  | { readonly op: 'merge'; readonly text: string }
  | { readonly op: 'upsert'; readonly spans: readonly SpanRecord[] }
  | { readonly op: 'arrange'; readonly arrangement: Arrangement }
  | { readonly op: 'find'; readonly query: string; readonly logs: readonly SpanLogText[] }
  | { readonly op: 'span'; readonly row: number }
  /** The values of an attribute, one for each row. */
  | { readonly op: 'column'; readonly key: string }
  | { readonly op: 'services' }
  /** This trace against an earlier one. */
  | { readonly op: 'compare'; readonly before: TraceColumns }
  | { readonly op: 'map'; readonly by: 'service' | 'function' }
  | { readonly op: 'flame' };

export interface TraceReplies {
  load: TraceView;
  merge: TraceView;
  upsert: TraceView;
  arrange: TraceView;
  find: Uint8Array;
  span: Span | null;
  column: (string | null)[];
  services: ServiceFigures[];
  compare: ComparedSpan[];
  map: TraceMap;
  flame: FlameBlock[];
}

const NO_STEPS = { inner: new Map(), mergedInto: new Map() } satisfies Omit<Steps, 'spans'>;

export class TraceSession {
  /** By id: a later record replaces an earlier one. */
  readonly #spans = new Map<string, Span>();
  readonly #nowUnixNano: () => number;
  #isCondensed = false;
  #totalSpans = 0;
  #arrangement: Arrangement = { correctsClocks: false, showsBothSides: false, shortensGaps: true };
  #rows: readonly (Span | null)[] = [];
  #columns: TraceColumns;
  #path: CriticalPath;
  #mergedInto: ReadonlyMap<string, string> = new Map();

  constructor(nowUnixNano: () => number) {
    this.#nowUnixNano = nowUnixNano;
    this.#columns = buildTrace([], 0).columns;
    this.#path = criticalPathOf(this.#columns);
  }

  handle(request: TraceRequest): TraceReplies[keyof TraceReplies] {
    switch (request.op) {
      case 'load':
        this.#spans.clear();
        this.#isCondensed = false;
        this.#totalSpans = 0;
        if (request.from === 'engine') this.#take(JSON.parse(request.text));
        else this.#put(readTraceFile(request.text));
        return this.#view();
      case 'merge':
        this.#take(JSON.parse(request.text));
        return this.#view();
      case 'upsert':
        this.#put(request.spans);
        return this.#view();
      case 'arrange':
        this.#arrangement = request.arrangement;
        return this.#view();
      case 'find':
        return findInTrace(this.#rows, this.#columns.ids, request.logs, request.query, this.#mergedInto);
      case 'span':
        return this.#rows[request.row] ?? null;
      case 'column':
        return this.#rows.map((span) => (span === null ? null : (attributeOf(span, request.key) ?? null)));
      case 'services':
        return serviceBreakdown(this.#columns, this.#path);
      case 'compare':
        return compareTraces(request.before, this.#columns);
      case 'map':
        return traceMap(this.#columns, request.by);
      case 'flame':
        return flameByName(this.#columns);
    }
  }

  /** Tests of the engine check the shape of the answer. */
  #take(answer: Answer): void {
    this.#isCondensed = answer.condensed;
    this.#totalSpans = Math.max(this.#totalSpans, answer.span_count);
    this.#put(answer.spans);
  }

  #put(spans: readonly Span[]): void {
    for (const span of spans) {
      const known = this.#spans.get(span.span_id);
      // A live record does not contain the number of children.
      const childCount = span.child_count ?? known?.child_count;
      this.#spans.set(span.span_id, childCount === undefined ? span : { ...span, child_count: childCount });
    }
    this.#totalSpans = Math.max(this.#totalSpans, this.#spans.size);
  }

  #view(): TraceView {
    const { correctsClocks, showsBothSides, shortensGaps } = this.#arrangement;
    const all = [...this.#spans.values()];
    const { spans, inner, mergedInto } = showsBothSides ? { ...NO_STEPS, spans: all } : mergeSteps(all);
    const built = buildTrace(spans, this.#nowUnixNano(), inner);
    const { columns: real, movedCount } = correctsClocks
      ? correctSkew(built.columns)
      : { columns: built.columns, movedCount: 0 };
    const path = criticalPathOf(real);
    const gaps = shortensGaps ? findGaps(real) : [];
    const columns = { ...withoutGaps(real, gaps), spanCount: all.length };
    const waits = queueWaits(real);
    const move = (times: Float64Array): Float64Array => times.map((ms) => shownMs(gaps, ms));
    this.#rows = built.spans;
    this.#columns = columns;
    this.#mergedInto = mergedInto;
    this.#path = { ...path, fromMs: move(path.fromMs), toMs: move(path.toMs) };
    return {
      columns,
      path: this.#path,
      pathShares: pathByService(real, path),
      lanes: flameLanes(columns),
      waits: { ...waits, fromMs: move(waits.fromMs), toMs: move(waits.toMs) },
      durationMs: real.durationMs,
      gaps,
      mergedInto,
      movedCount,
      isCondensed: this.#isCondensed,
      totalSpans: this.#totalSpans,
    };
  }
}
