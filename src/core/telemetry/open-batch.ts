// Makes records of a batch, on the telemetry thread.
//
// It remembers which spans of workers have begun and not ended, so that a worker that is lost leaves none pending for
// ever (modules 11.4). At most `PENDING_MAX` of them: the oldest is then no longer watched.

import { redactFields } from '../redaction.ts';
import { engineSpans } from './engine-spans.ts';
import type {
  DroppedTelemetry,
  OpenedBatch,
  ServiceFacts,
  SourceGauges,
  TelemetryBatch,
  TelemetryKind,
} from './intake.ts';
import { boundRecord } from './log-record.ts';
import { type ReadFrame, readFrame } from './read-otlp.ts';
import type { LogRecord, MetricRecord, SpanRecord } from './records.ts';
import { isWithin } from './sampling.ts';
import { readWorkerGauges } from './worker-gauges.ts';

export interface OpenerOptions {
  readonly facts: ServiceFacts;
  /** Of logs that workers send; those of the engine were sampled on their way here. */
  logsRatio(): number;
  nowMs(): number;
  /** 32 hexadecimal digits by chance: for logs that belong to no trace. */
  token(): string;
}

const PENDING_MAX = 10_000;
const KINDS: Readonly<Record<TelemetryKind, DroppedTelemetry['kind']>> = {
  OTLP: 'spans',
  LOGS: 'logs',
  MTRC: 'metrics',
};

export class BatchOpener {
  readonly #options: OpenerOptions;
  readonly #pending = new Map<string, { readonly source: number; readonly span: SpanRecord }>();

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
      const frame = readFrame(kind, bytes, { nowMs: this.#options.nowMs(), dropped });
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
    // After those of workers, which had waited there before they came: where few are kept, calls are the newest.
    for (const span of engineSpans(batch.spanRows, this.#options.facts, cut)) spans.push(span);
    return { spans, logs, metrics, calls: batch.calls, workers: batch.workers, gauges, dropped: drops.all() };
  }

  #isSampled({ trace_id: traceId }: LogRecord): boolean {
    const ratio = this.#options.logsRatio();
    return ratio >= 1 || isWithin(traceId ?? this.#options.token(), ratio);
  }

  #watched(source: number, { spans }: ReadFrame): readonly SpanRecord[] {
    for (const span of spans) {
      const key = span.trace_id + span.span_id;
      if (span.pending !== true) this.#pending.delete(key);
      else this.#pending.set(key, { source, span });
      if (this.#pending.size > PENDING_MAX) this.#forgetOldest();
    }
    return spans;
  }

  #forgetOldest(): void {
    for (const key of this.#pending.keys()) {
      this.#pending.delete(key);
      return;
    }
  }

  #lost(source: number): SpanRecord[] {
    const endNanos = this.#options.nowMs() * 1e6;
    const ended: SpanRecord[] = [];
    for (const [key, { source: owner, span }] of this.#pending) {
      if (owner !== source) continue;
      this.#pending.delete(key);
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

/** As it may be kept: without secrets (X22), and not larger than one record may be. */
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
