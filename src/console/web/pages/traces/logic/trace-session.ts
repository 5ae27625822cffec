// One open trace, as the worker holds it: spans come in (the whole, a level, live changes, a file), columns and
// everything drawn from them go out. The page keeps only columns and asks for a span when it is opened.

import type { SpanRecord } from '../../../../../core/telemetry/records/records.ts';
import { type CriticalPath, criticalPathOf, type PathShare, pathByService } from './critical-path.ts';
import { type FlameBlock, type FlameLayout, flameByName, flameLanes } from './flame-layout.ts';
import { buildTrace, type TraceColumns } from './trace-columns.ts';
import { type ComparedSpan, compareTraces } from './trace-compare.ts';
import { readTraceFile } from './trace-file.ts';
import { findInTrace, type SpanLogText } from './trace-find.ts';
import { type ServiceFigures, serviceBreakdown, type TraceMap, traceMap } from './trace-services.ts';
import { attributeOf, type Span } from './trace-span.ts';
import { correctSkew, queueWaits, type Waits } from './trace-times.ts';

export interface TraceView {
  readonly columns: TraceColumns;
  readonly path: CriticalPath;
  readonly pathShares: readonly PathShare[];
  readonly lanes: FlameLayout;
  readonly waits: Waits;
  /** How many spans the clock correction moved; 0 while it is off. */
  readonly movedCount: number;
  /** Attributes and events are not here, but on the server. */
  readonly isCondensed: boolean;
  /** Of the whole trace; more than `columns.spanCount` while levels are missing. */
  readonly totalSpans: number;
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
  | { readonly op: 'correct'; readonly on: boolean }
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
  correct: TraceView;
  find: Uint8Array;
  span: Span | null;
  column: (string | null)[];
  services: ServiceFigures[];
  compare: ComparedSpan[];
  map: TraceMap;
  flame: FlameBlock[];
}

export class TraceSession {
  /** By id: a later record replaces an earlier one. */
  readonly #spans = new Map<string, Span>();
  readonly #nowUnixNano: () => number;
  #isCondensed = false;
  #totalSpans = 0;
  #isCorrected = false;
  #rows: readonly (Span | null)[] = [];
  #columns: TraceColumns;
  #path: CriticalPath;

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
      case 'correct':
        this.#isCorrected = request.on;
        return this.#view();
      case 'find':
        return findInTrace(this.#rows, this.#columns.ids, request.logs, request.query);
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
    const built = buildTrace([...this.#spans.values()], this.#nowUnixNano());
    const { columns, movedCount } = this.#isCorrected
      ? correctSkew(built.columns)
      : { columns: built.columns, movedCount: 0 };
    this.#rows = built.spans;
    this.#columns = columns;
    this.#path = criticalPathOf(columns);
    return {
      columns,
      path: this.#path,
      pathShares: pathByService(columns, this.#path),
      lanes: flameLanes(columns),
      waits: queueWaits(columns),
      movedCount,
      isCondensed: this.#isCondensed,
      totalSpans: this.#totalSpans,
    };
  }
}
