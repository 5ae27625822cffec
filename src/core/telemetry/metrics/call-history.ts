// What is known of calls over time: counts of functions, of the connections between them and of the jobs of queues, and
// the last error of each function. None of it depends on which spans are stored.

import type { CallCounts } from '../records/intake.ts';
import type { SpanRecord } from '../records/records.ts';
import type { CallEdge, EdgeEnd } from '../spans/trace-edges.ts';
import { type CallsAnswer, type EdgeCalls, type FunctionCalls, type JobsAnswer, jobsOf } from './call-answers.ts';
import { CallSeries } from './call-series.ts';
import { LastErrors } from './last-errors.ts';

export interface CallsQuery {
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** About how many; 0: none. */
  readonly points: number;
  /** Only this function; `null`: none, just the total. */
  readonly functionId?: string | null | undefined;
  readonly withEdges?: boolean;
  /** The answer is merged with those of other engines. */
  readonly withHistograms?: boolean;
}

export interface JobsQuery extends Pick<CallsQuery, 'startMs' | 'endMs' | 'points' | 'withHistograms'> {
  /** Only this one. */
  readonly queue: string | undefined;
}

const SEPARATOR = '\0';
/** Their ids are two names each, and senders choose one of them. */
const EDGE_CELLS_MAX = 50_000;

export class CallHistory {
  readonly #functions: CallSeries;
  readonly #edges: CallSeries;
  readonly #queues: CallSeries;
  readonly #lastErrors = new LastErrors();
  /** Bounded like its source (`call-stats.ts`). */
  readonly #lastCallMs = new Map<string, number>();

  constructor(startedMs: number) {
    this.#functions = new CallSeries(startedMs);
    this.#edges = new CallSeries(startedMs, EDGE_CELLS_MAX);
    this.#queues = new CallSeries(startedMs);
  }

  add(batch: HistoryBatch, nowMs: number): void {
    for (const counts of batch.calls) {
      this.#functions.add(counts.functionId, counts, nowMs);
      this.#lastCallMs.set(counts.functionId, nowMs);
    }
    for (const counts of batch.jobs) this.#queues.add(counts.functionId, counts, nowMs);
    for (const { from, to, isError } of batch.edges) {
      const counts = { ok: Number(!isError), error: Number(isError), deferred: 0 };
      // Every span of what is called counts once for itself: the share of it that is sampled follows.
      this.#edges.add(keyOf('', to), counts, nowMs);
      if (from !== undefined && !(to.kind === 'function' && to.name === from)) {
        this.#edges.add(keyOf(from, to), counts, nowMs);
      }
    }
    for (const span of batch.spans) this.#lastErrors.note(span);
  }

  expire(nowMs: number): void {
    this.#functions.expire(nowMs);
    this.#edges.expire(nowMs);
    this.#queues.expire(nowMs);
  }

  answer({ startMs, endMs, points, functionId, withEdges = false, withHistograms = false }: CallsQuery): CallsAnswer {
    const window = this.#functions.window(startMs, endMs, points);
    const shown = { withPoints: points > 0, withHistograms };
    const rows = functionId === null ? [] : this.#functions.rows(window, shown, functionId);
    const functions = rows.map(({ id, ...sums }) => ({
      function_id: id,
      ...sums,
      last_call_ms: this.#lastCallMs.get(id) ?? null,
      last_error: this.#lastErrors.of(id) ?? null,
    }));
    return {
      ...window,
      functions,
      total: this.#functions.total(window, shown),
      ...(withEdges && { edges: this.#edgesIn(startMs, endMs, functions) }),
    };
  }

  jobs({ startMs, endMs, points, queue, withHistograms = false }: JobsQuery): JobsAnswer {
    const window = this.#queues.window(startMs, endMs, points);
    const rows = this.#queues.rows(window, { withPoints: points > 0, withHistograms }, queue);
    return { ...window, queues: rows.map(({ id, ...row }) => jobsOf(id, row)) };
  }

  /** Spans are sampled and counts are not: an edge has the share of the counted calls that it has of the spans. */
  #edgesIn(startMs: number, endMs: number, functions: readonly FunctionCalls[]): EdgeCalls[] {
    const window = this.#edges.window(startMs, endMs, 0);
    const counted = new Map(functions.map(({ function_id, calls }) => [function_id, calls]));
    const spans = new Map<string, number>();
    const found: EdgeCalls[] = [];
    const rows = this.#edges
      .rows(window, { withPoints: false })
      .map(({ id, calls, errors }) => ({ ...endsOf(id), calls, errors }));
    for (const { from, to, calls } of rows) if (from === '') spans.set(keyOf('', to), calls);
    for (const { from, to, calls, errors } of rows) {
      if (from === '') continue;
      const sampled = spans.get(keyOf('', to)) ?? calls;
      const all = to.kind === 'function' ? (counted.get(to.name) ?? sampled) : sampled;
      const scale = Math.max(1, all / sampled);
      found.push({ from, to, calls: Math.round(calls * scale), errors: Math.round(errors * scale) });
    }
    return found;
  }
}

interface HistoryBatch {
  readonly calls: readonly CallCounts[];
  readonly jobs: readonly CallCounts[];
  readonly edges: readonly CallEdge[];
  readonly spans: readonly SpanRecord[];
}

function keyOf(from: string, { kind, name }: EdgeEnd): string {
  return [from, kind, name].join(SEPARATOR);
}

function endsOf(key: string): { readonly from: string; readonly to: EdgeEnd } {
  const [from = '', kind, ...rest] = key.split(SEPARATOR);
  const known = KINDS.find((one) => one === kind) ?? 'function';
  return { from, to: { kind: known, name: rest.join(SEPARATOR) } };
}

const KINDS = ['function', 'queue', 'state', 'stream'] as const;
