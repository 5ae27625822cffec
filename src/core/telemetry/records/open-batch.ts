// Turns a batch into records, on the telemetry thread.
//
// It remembers which spans of workers have begun and not ended, so that a lost worker leaves none pending for ever
// (modules 11.4). The limit is `PENDING_MAX` spans, and a limit of bytes: beyond it the oldest is no longer tracked.

import { redactFields } from '../../config-fields/redaction.ts';
import { boundRecord } from '../logs/log-record.ts';
import { isWithin } from '../spans/sampling.ts';
import { engineSpans } from '../spans/span-records.ts';
import { type CallEdge, edgeOf } from '../spans/trace-edges.ts';
import {
  type DroppedTelemetry,
  type OpenedBatch,
  readWorkerGauges,
  type ServiceIdentity,
  type SourceGauges,
  type TelemetryBatch,
  type TelemetryKind,
} from './intake.ts';
import { type ReadFrame, readFrame } from './read-otlp.ts';
import { type LogRecord, type MetricRecord, recordBytes, type SpanRecord } from './records.ts';

export interface OpenerOptions {
  readonly service: ServiceIdentity;
  /** The sampling ratio for logs of workers; those of the engine are already sampled. */
  logsRatio(): number;
  nowMs(): number;
  /** 32 random hexadecimal digits: for logs without a trace. */
  token(): string;
  /** Whether a log trigger caused that trace. */
  isQuiet(traceId: string): boolean;
}

const PENDING_MAX = 10_000;
const PENDING_BYTES_MAX = 16 * 1024 * 1024;
const KINDS: Readonly<Record<TelemetryKind, DroppedTelemetry['kind']>> = {
  OTLP: 'spans',
  LOGS: 'logs',
  MTRC: 'metrics',
};

/** Of a worker: begun, and not ended as far as is known. */
interface PendingSpan {
  readonly source: number;
  readonly span: SpanRecord;
  readonly bytes: number;
}

export class BatchOpener {
  readonly #options: OpenerOptions;
  readonly #pending = new Map<string, PendingSpan>();
  #pendingBytes = 0;

  constructor(options: OpenerOptions) {
    this.#options = options;
  }

  open(batch: TelemetryBatch): OpenedBatch {
    const drops = new Drops();
    const cut = (): void => drops.count('spans', 'truncated');
    const spans: SpanRecord[] = [];
    const logs: LogRecord[] = batch.logs.map((log) => keptLog(log, drops));
    const metrics: MetricRecord[] = [];
    const gauges: SourceGauges[] = [];
    for (const { kind, source, bytes } of batch.frames) {
      const dropped = (reason: string): void => drops.count(KINDS[kind], reason);
      const frame = readFrame(kind, bytes, { nowMs: this.#options.nowMs(), dropped, isQuiet: this.#options.isQuiet });
      for (const span of this.#watched(source, frame)) spans.push(span);
      for (const log of frame.logs) if (this.#isSampled(log)) logs.push(keptLog(log, drops));
      for (const metric of frame.metrics) metrics.push(metric);
      const read = readWorkerGauges(frame.metrics);
      if (read !== undefined) gauges.push([source, read]);
    }
    for (const source of batch.goneSources) {
      for (const span of this.#lost(source)) spans.push(span);
      gauges.push([source, null]);
    }
    // After the spans of workers, which arrived earlier: where few are kept, calls are the newest.
    const edges: CallEdge[] = [];
    for (const { span, baggage } of engineSpans(batch.spanRows, this.#options.service, cut)) {
      spans.push(span);
      const edge = edgeOf(span, baggage);
      if (edge !== undefined) edges.push(edge);
    }
    const { calls, jobs, workers } = batch;
    return { spans, logs, metrics, calls, jobs, edges, workers, gauges, dropped: drops.all() };
  }

  #isSampled({ trace_id: traceId }: LogRecord): boolean {
    const ratio = this.#options.logsRatio();
    return ratio >= 1 || isWithin(traceId ?? this.#options.token(), ratio);
  }

  #watched(source: number, { spans }: ReadFrame): readonly SpanRecord[] {
    for (const span of spans) {
      const key = span.trace_id + span.span_id;
      this.#forget(key);
      if (span.pending === true) this.#watch(key, { source, span, bytes: recordBytes(span) });
    }
    return spans;
  }

  #watch(key: string, pending: PendingSpan): void {
    this.#pending.set(key, pending);
    this.#pendingBytes += pending.bytes;
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= PENDING_MAX && this.#pendingBytes <= PENDING_BYTES_MAX) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#pendingBytes -= this.#pending.get(key)?.bytes ?? 0;
    this.#pending.delete(key);
  }

  #lost(source: number): SpanRecord[] {
    const endNanos = this.#options.nowMs() * 1e6;
    const ended: SpanRecord[] = [];
    for (const [key, { source: owner, span }] of this.#pending) {
      if (owner !== source) continue;
      this.#forget(key);
      const { pending: _pending, ...rest } = span;
      ended.push({
        ...rest,
        end_time_unix_nano: Math.max(endNanos, span.start_time_unix_nano),
        status: 'error',
        status_description: 'the worker is gone',
      });
    }
    return ended;
  }
}

/** Ready to be kept: without secrets (X22), and within the size of one record. */
function keptLog(log: LogRecord, drops: Drops): LogRecord {
  const { record, isCut } = boundRecord({ ...log, attributes: redactFields(log.attributes) });
  if (isCut) drops.count('logs', 'truncated');
  return record;
}

class Drops {
  readonly #counts = new Map<string, DroppedTelemetry>();

  count(kind: DroppedTelemetry['kind'], reason: string): void {
    const key = `${kind} ${reason}`;
    this.#counts.set(key, { kind, reason, count: (this.#counts.get(key)?.count ?? 0) + 1 });
  }

  all(): DroppedTelemetry[] {
    return [...this.#counts.values()];
  }
}
