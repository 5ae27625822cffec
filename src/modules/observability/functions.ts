// `engine::log::…` writes a log record of the caller. `engine::baggage::…` reads the baggage of the call: a call cannot
// change the context of its caller, so `set` changes nothing; SDKs have functions of their own for that (modules 11.9).
//
// The telemetry thread and the rollup thread answer the others. Payloads are passed on unread, and answers arrive as
// bytes, so a list of a thousand traces costs the router's thread only its bytes.

import { Refusal, readPayload, unreadablePayload } from '../../core/calls/refusal.ts';
import { boundRecord, SEVERITY_NUMBERS, severityTextOf } from '../../core/telemetry/logs/log-record.ts';
import type { ServiceIdentity } from '../../core/telemetry/records/intake.ts';
import { LOG_LEVELS, LOG_WRITER, type LogLevel, type LogRecord } from '../../core/telemetry/records/records.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import {
  baggageEntries,
  functionIdIn,
  isTraceparent,
  jobIdIn,
  spanIdOf,
  traceIdOf,
} from '../../core/telemetry/spans/context.ts';
import { validateBaggageGet, validateBaggageSet, validateLog } from '../../generated/module-payloads.ts';
import { SMALL_PAYLOAD_LIMITS } from '../../protocol/frames/limits.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import {
  assertTrusted,
  type BuiltinCall,
  type BuiltinDefinition,
  type RawBuiltinDefinition,
} from '../../router/builtin.ts';
import { outcomeOfError } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { TelemetryClient } from '../../telemetry/client.ts';
import { DESCRIPTIONS } from '../../telemetry/functions/definition.ts';
import type { ObservabilityAnswers } from './answers.ts';
import { answersOfAll } from './answers-of-all.ts';
import type { LogPayload } from './payloads.ts';

type Port = Pick<RouterPort, 'nowMs' | 'observer' | 'count' | 'quietTraces'>;

export function logFunctions(router: Port, identity: ServiceIdentity): BuiltinDefinition[] {
  return LOG_LEVELS.map((level) => {
    const id = `engine::log::${level}` as const;
    return {
      id,
      description: `Logs at the level ${level}`,
      payloadLimits: SMALL_PAYLOAD_LIMITS,
      handle(payload, call): ObservabilityAnswers[typeof id] {
        const given = readPayload(id, validateLog, payload);
        const { record, isCut } = boundRecord(recordOf(level, given, call, router, identity));
        if (isCut) router.count('telemetry.dropped', 'logs,truncated');
        router.observer?.log(record);
        return null;
      },
    };
  });
}

function recordOf(
  level: LogLevel,
  { message, data, service_name: service, ...ids }: LogPayload,
  { traceparent, baggage, callerWorkerId, callerName: worker, rights }: BuiltinCall,
  router: Port,
  { engineVersion, resource }: ServiceIdentity,
): LogRecord {
  const nowNano = router.nowMs * 1e6;
  const context = isTraceparent(traceparent) ? traceparent : undefined;
  const traceId = readId('trace_id', ids.trace_id);
  // The trace that the record names does not count, but the trace of the call does (O3). That of a restricted caller
  // does not: the context that it may pass on was checked when the call came.
  const { quietTraces } = router;
  const isQuiet =
    quietTraces.isMarkedContext(traceparent) ||
    (rights === undefined && traceId !== undefined && quietTraces.isMarked(traceId));
  const caller = readService(service) ?? functionIdIn(baggage) ?? worker;
  return {
    timestamp_unix_nano: nowNano,
    observed_timestamp_unix_nano: nowNano,
    severity_number: SEVERITY_NUMBERS[level],
    severity_text: severityTextOf(SEVERITY_NUMBERS[level]),
    body: message,
    attributes: { ...attributesOf(data), ...writerOf(baggage, callerWorkerId === worker ? undefined : worker) },
    trace_id: traceId ?? (context === undefined ? null : traceIdOf(context)),
    span_id: readId('span_id', ids.span_id) ?? (context === undefined ? null : spanIdOf(context)),
    resource,
    service_name: caller?.slice(0, SERVICE_CHARS_MAX) ?? 'unknown',
    instrumentation_scope_name: 'svc',
    instrumentation_scope_version: engineVersion,
    ...(isQuiet && { is_quiet: true }),
  };
}

/** By what the record is found: the same attributes that the logger of a handler sets. */
function writerOf(baggage: string | undefined, worker: string | undefined): Record<string, string> {
  const functionId = functionIdIn(baggage);
  const jobId = jobIdIn(baggage);
  return {
    ...(functionId !== undefined && { [LOG_WRITER.function]: functionId }),
    ...(worker !== undefined && { [LOG_WRITER.worker]: worker }),
    ...(jobId !== undefined && { [LOG_WRITER.job]: jobId }),
  };
}

/** Members of an object; any other value gets one name. */
function attributesOf(data: unknown): Readonly<Record<string, unknown>> {
  if (data === undefined || data === null) return {};
  return typeof data === 'object' && !Array.isArray(data) ? { ...data } : { data };
}

const SERVICE_CHARS_MAX = 256;

function readService(service: string | null | undefined): string | undefined {
  if (service === undefined || service === null || service === '') return undefined;
  if (service.length <= SERVICE_CHARS_MAX) return service;
  const text = `'service_name' has ${service.length} characters, the limit is ${SERVICE_CHARS_MAX}`;
  throw new Refusal('BAD_REQUEST', text);
}

const ID_CHARS_MAX = 64;

function readId(name: string, id: string | null | undefined): string | undefined {
  if (id === undefined || id === null || id === '') return undefined;
  if (id.length <= ID_CHARS_MAX) return id.toLowerCase();
  throw new Refusal('BAD_REQUEST', `'${name}' has ${id.length} characters, the limit is ${ID_CHARS_MAX}`);
}

const KEY_BYTES_MAX = 256;

export const baggageFunctions: readonly BuiltinDefinition[] = [
  {
    id: 'engine::baggage::get',
    description: 'Reads one entry of the baggage of the call',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload, { baggage }): ObservabilityAnswers['engine::baggage::get'] {
      const { key } = readPayload(this.id, validateBaggageGet, payload);
      return { value: baggageEntries(baggage).find(([known]) => known === key)?.[1] ?? null };
    },
  },
  {
    id: 'engine::baggage::set',
    description: 'Checks an entry of the baggage; the context of the caller is not changed',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload): ObservabilityAnswers['engine::baggage::set'] {
      const { key } = readPayload(this.id, validateBaggageSet, payload);
      const bytes = Buffer.byteLength(key);
      if (bytes === 0 || bytes > KEY_BYTES_MAX) {
        throw new Refusal('BAD_REQUEST', `'key' must have 1 to ${KEY_BYTES_MAX} bytes, found ${bytes}`);
      }
      return { success: true };
    },
  },
  {
    id: 'engine::baggage::get_all',
    description: 'Reads all entries of the baggage of the call',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle: (_payload, { baggage }): ObservabilityAnswers['engine::baggage::get_all'] => ({
      baggage: Object.fromEntries(baggageEntries(baggage)),
    }),
  },
];

/** Zeros would look like an engine without calls. */
const COUNTS: ReadonlySet<string> = new Set(['engine::metrics::calls', 'engine::metrics::jobs']);
const NOT_COUNTED = 'Calls and jobs are not counted: set enabled or metrics_enabled of svc-observability to true';

export function threadFunctions(
  client: Pick<TelemetryClient, 'ask'>,
  collector: Pick<Collector, 'flush' | 'isCounting'>,
  router: Pick<RouterPort, 'others'>,
): RawBuiltinDefinition[] {
  const ask = answersOfAll(client, () => collector.flush(), router);
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    handleRaw(payload, call, done) {
      // Observability covers everything, so a caller that may not reach everything sees none of it (X10).
      assertTrusted(id, call);
      if (COUNTS.has(id) && !collector.isCounting) throw new Refusal('memory_exporter_not_enabled', NOT_COUNTED);
      const input = payload?.asJsonBytes();
      const isRelayed = call.isRelayed === true;
      const askLater = async (flushed: Promise<void>, bytes: Uint8Array | undefined) => {
        const kept = bytes && new Uint8Array(bytes);
        await flushed;
        return await ask(id, kept, isRelayed);
      };
      if (payload !== undefined && input === undefined) throw unreadablePayload(`the payload for ${id}`, payload);
      const flushed = router.others.flushRouters();
      const asked = flushed === undefined ? ask(id, input, isRelayed) : askLater(flushed, input);
      void asked.then((answer) => {
        if (!(answer instanceof ArrayBuffer)) return done(outcomeOfError(answer.error));
        const bytes = Buffer.from(answer);
        done({ result: Payload.ofBytes(bytes, 0, bytes.length) });
      });
    },
  }));
}
