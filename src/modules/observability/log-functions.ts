// `engine::log::…`: a log record of the caller.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import {
  boundRecord,
  LOG_LEVELS,
  type LogLevel,
  SEVERITY_NUMBERS,
  severityTextOf,
} from '../../core/telemetry/logs/log-record.ts';
import type { ServiceFacts } from '../../core/telemetry/records/intake.ts';
import type { LogRecord } from '../../core/telemetry/records/records.ts';
import { functionIdIn } from '../../core/telemetry/spans/baggage.ts';
import { isTraceparent, spanIdOf, traceIdOf } from '../../core/telemetry/spans/context.ts';
import { validateLog } from '../../generated/module-payloads.ts';
import { SMALL_PAYLOAD_LIMITS } from '../../protocol/frames/limits.ts';
import type { BuiltinCall, BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { LogPayload } from './payloads.ts';

type Port = Pick<RouterPort, 'nowMs' | 'observer' | 'workerName' | 'count' | 'quietMarks'>;

export function logFunctions(router: Port, facts: ServiceFacts): BuiltinDefinition[] {
  return LOG_LEVELS.map((level) => {
    const id = `engine::log::${level}`;
    return {
      id,
      description: `Logs at the level ${level}`,
      payloadLimits: SMALL_PAYLOAD_LIMITS,
      handle(payload, call) {
        const given = readPayload(id, validateLog, payload);
        const { record, isCut } = boundRecord(recordOf(level, given, call, router, facts));
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
  { traceparent, baggage, callerWorkerId, rights }: BuiltinCall,
  router: Port,
  { engineVersion, resource }: ServiceFacts,
): LogRecord {
  const nowNano = router.nowMs * 1e6;
  const context = isTraceparent(traceparent) ? traceparent : undefined;
  const traceId = readId('trace_id', ids.trace_id);
  // The trace that the record names does not count, but the trace of the call does (O3). That of a restricted caller
  // does not: the context that it may pass on was checked when the call came.
  const { quietMarks } = router;
  const isQuiet =
    quietMarks.isMarkedContext(traceparent) ||
    (rights === undefined && traceId !== undefined && quietMarks.isMarked(traceId));
  const caller = readService(service) ?? functionIdIn(baggage) ?? (callerWorkerId && router.workerName(callerWorkerId));
  return {
    timestamp_unix_nano: nowNano,
    observed_timestamp_unix_nano: nowNano,
    severity_number: SEVERITY_NUMBERS[level],
    severity_text: severityTextOf(SEVERITY_NUMBERS[level]),
    body: message,
    attributes: attributesOf(data),
    trace_id: traceId ?? (context === undefined ? null : traceIdOf(context)),
    span_id: readId('span_id', ids.span_id) ?? (context === undefined ? null : spanIdOf(context)),
    resource,
    service_name: caller?.slice(0, SERVICE_CHARS_MAX) ?? 'unknown',
    instrumentation_scope_name: 'svc',
    instrumentation_scope_version: engineVersion,
    ...(isQuiet && { is_quiet: true }),
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
