// The runs of one function, newest first: each is the engine's span of one call, with what its neighbours in the trace
// say about it.

import type { SpanRecord } from '../records/records.ts';
import { RUN_BYTES } from './span-rows.ts';
import type { SpanStore } from './span-store.ts';
import type { Trace } from './stored-trace.ts';
import { durationMs, overlaps, selectPage } from './trace-list.ts';

export interface RunsQuery {
  readonly functionId: string;
  readonly status: Run['status'] | undefined;
  /** Unix milliseconds: runs that overlap the range. */
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface Run {
  readonly trace_id: string;
  readonly span_id: string;
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly status: 'ok' | 'error' | 'pending';
  readonly error: string | null;
  /** The type of the trigger that caused it; null: a call. */
  readonly trigger: string | null;
  readonly worker: string | null;
  /** Of a job: its queue or topic, its receipt, and which attempt this was. */
  readonly queue: string | null;
  readonly job_id: string | null;
  readonly attempt: number | null;
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
  /** Whether its input is stored, see `engine::traces::payloads`. */
  readonly has_payload: boolean;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly total: number;
}

export function listRuns(
  store: SpanStore,
  query: RunsQuery,
  nowMs: number,
  hasPayload: (span: SpanRecord) => boolean,
): RunPage {
  const name = `call ${query.functionId}`;
  const found: Found[] = [];
  for (const trace of store.traces()) {
    if (query.status === 'error' && trace.errorCount === 0) continue;
    for (const { record } of trace.spans.values()) {
      if (record.name !== name || (query.status !== undefined && statusOf(record) !== query.status)) continue;
      if (overlaps(record, query, nowMs)) found.push({ trace, record });
    }
  }
  const page = selectPage(found, newestFirst, query.offset, query.limit);
  return {
    runs: page.map((one) => ({ ...runOf(one, nowMs), has_payload: hasPayload(one.record) })),
    total: found.length,
  };
}

interface Found {
  readonly trace: Trace;
  readonly record: SpanRecord;
}

/** Equal ones are ordered by their ids, so that pages neither repeat nor skip a run. */
function newestFirst({ record: a }: Found, { record: b }: Found): number {
  const later = b.start_time_unix_nano - a.start_time_unix_nano;
  if (later !== 0) return later;
  const [one, other] = [a.trace_id + a.span_id, b.trace_id + b.span_id];
  return one < other ? -1 : one > other ? 1 : 0;
}

function runOf({ trace, record }: Found, nowMs: number): Omit<Run, 'has_payload'> {
  const parent = trace.spans.get(record.parent_span_id ?? '')?.record;
  const attempt = parent && numberAt(parent, 'svc.job.attempt');
  return {
    trace_id: record.trace_id,
    span_id: record.span_id,
    started_ms: record.start_time_unix_nano / 1e6,
    duration_ms: durationMs(record, nowMs),
    status: statusOf(record),
    error: record.status_description ?? null,
    trigger: textAt(record, 'trigger.type') ?? (attempt === undefined ? null : 'queue'),
    worker: textAt(record, 'svc.worker') ?? null,
    queue: (attempt !== undefined && parent && textAt(parent, 'messaging.destination.name')) || null,
    job_id: (attempt !== undefined && parent && textAt(parent, 'messaging.message.id')) || null,
    attempt: attempt ?? null,
    input_bytes: numberAt(record, RUN_BYTES.input) ?? null,
    output_bytes: numberAt(record, RUN_BYTES.output) ?? null,
  };
}

function statusOf({ pending, status }: SpanRecord): Run['status'] {
  return pending === true ? 'pending' : status === 'error' ? 'error' : 'ok';
}

function textAt({ attributes }: SpanRecord, key: string): string | undefined {
  return attributes.find(([known]) => known === key)?.[1];
}

function numberAt(record: SpanRecord, key: string): number | undefined {
  const text = textAt(record, key);
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
}
