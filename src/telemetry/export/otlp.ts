// The official OTLP exporters, as destinations. They are loaded when something is exported, and only those of the
// protocol: gRPC alone takes 30 MB. They read the variables for headers, timeout, compression and certificates
// themselves.

import type { ExportResult } from '@opentelemetry/core';
import { redactUrl } from '../../core/config-fields/redaction.ts';
import type { LogRecord, MetricRecord, SpanRecord } from '../../core/telemetry/records/records.ts';
import type { OtlpTarget } from '../../core/telemetry/records/settings.ts';
import type { Destination, SendOutcome } from './pipeline.ts';
import { OtelConverter } from './to-otel.ts';

/** The common shape of the packages' exporters. */
interface Exporter<Batch> {
  export(batch: Batch, done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
}

/** Of the engine, for every record: namespace, version, environment. */
export type EngineResource = Readonly<Record<string, string>>;

export async function spanDestination(target: OtlpTarget, resource: EngineResource): Promise<Destination<SpanRecord>> {
  const { OTLPTraceExporter } =
    target.protocol === 'grpc'
      ? await import('@opentelemetry/exporter-trace-otlp-grpc')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const converter = await createConverter(resource);
  const exporter = withHeaders(target, () => new OTLPTraceExporter(options(target)));
  return destination(target, exporter, (batch) => [batch.map((record) => converter.span(record))]);
}

export async function logDestination(target: OtlpTarget, resource: EngineResource): Promise<Destination<LogRecord>> {
  const { OTLPLogExporter } =
    target.protocol === 'grpc'
      ? await import('@opentelemetry/exporter-logs-otlp-grpc')
      : await import('@opentelemetry/exporter-logs-otlp-proto');
  const converter = await createConverter(resource);
  const exporter = withHeaders(target, () => new OTLPLogExporter(options(target)));
  return destination(target, exporter, (batch) => [batch.map((record) => converter.log(record))]);
}

export async function metricDestination(
  target: OtlpTarget,
  resource: EngineResource,
): Promise<Destination<MetricRecord>> {
  const { OTLPMetricExporter } =
    target.protocol === 'grpc'
      ? await import('@opentelemetry/exporter-metrics-otlp-grpc')
      : await import('@opentelemetry/exporter-metrics-otlp-proto');
  const converter = await createConverter(resource);
  const exporter = withHeaders(target, () => new OTLPMetricExporter(options(target)));
  return destination(target, exporter, (batch) => converter.metrics(batch));
}

function options({ url, timeoutMs }: OtlpTarget) {
  return { url, ...(timeoutMs !== undefined && { timeoutMillis: timeoutMs }) };
}

/**
 * Headers from the file. gRPC takes them as an object of an internal package; both protocols take them from the
 * environment, which they read while they are created. The environment is this thread's own copy.
 */
function withHeaders<Made>({ headers }: OtlpTarget, make: () => Made): Made {
  if (headers === undefined) return make();
  const names = ['', 'TRACES_', 'METRICS_', 'LOGS_'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}HEADERS`);
  const before = names.map((name) => process.env[name]);
  for (const name of names) delete process.env[name];
  const pairs = Object.entries(headers).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  process.env.OTEL_EXPORTER_OTLP_HEADERS = pairs.join(',');
  try {
    return make();
  } finally {
    for (const [index, name] of names.entries()) {
      if (before[index] === undefined) delete process.env[name];
      else process.env[name] = before[index];
    }
  }
}

async function createConverter(resource: EngineResource): Promise<OtelConverter> {
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const { TraceState } = await import('@opentelemetry/core');
  return new OtelConverter({ resourceFromAttributes, traceState: (text) => new TraceState(text) }, resource);
}

function destination<Item, Batch>(
  target: OtlpTarget,
  exporter: Exporter<Batch>,
  convert: (batch: readonly Item[]) => readonly Batch[],
): Destination<Item> {
  return {
    address: redactUrl(target.url),
    send: async (batch) => {
      for (const request of convert(batch)) {
        const outcome = await exportOnce(exporter, request);
        if (outcome.kind === 'failed') return outcome;
      }
      return { kind: 'sent' };
    },
    close: () => exporter.shutdown(),
  };
}

async function exportOnce<Batch>(exporter: Exporter<Batch>, batch: Batch): Promise<SendOutcome> {
  try {
    const { code, error } = await new Promise<ExportResult>((done) => exporter.export(batch, done));
    return code === EXPORTED ? { kind: 'sent' } : failed(error);
  } catch (error) {
    // Their serialisers throw on values that they cannot write; the next attempt would fail in the same way.
    return { kind: 'failed', mayRetry: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

const EXPORTED = 0;

function failed(error: Error | undefined): SendOutcome {
  const reason = error?.message || 'the exporter gave no reason';
  const code: unknown = error !== undefined && 'code' in error ? error.code : undefined;
  return { kind: 'failed', mayRetry: typeof code !== 'number' || RETRIED_CODES.has(code), reason };
}

/**
 * The codes that the OTLP specification allows a sender to retry: of gRPC (below 17) and of HTTP (from 400). A failure
 * without a number is one of the network.
 */
const RETRIED_CODES: ReadonlySet<number> = new Set([1, 4, 8, 10, 11, 14, 15, 408, 429, 502, 503, 504]);
