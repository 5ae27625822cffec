// `engine::log::…`: a log record of whoever calls.

import { readPayload } from '../../core/read-payload.ts';
import { Refusal } from '../../core/refusal.ts';
import { functionIdIn } from '../../core/telemetry/baggage.ts';
import { isTraceparent, spanIdOf, traceIdOf } from '../../core/telemetry/context.ts';
import type { ServiceFacts } from '../../core/telemetry/intake.ts';
import {
  boundRecord,
  LOG_LEVELS,
  type LogLevel,
  SEVERITY_NUMBERS,
  severityTextOf,
} from '../../core/telemetry/log-record.ts';
import { isQuietContext } from '../../core/telemetry/quiet.ts';
import type { LogRecord } from '../../core/telemetry/records.ts';
import { validateLog } from '../../generated/observability-payloads.ts';
import type { BuiltinCall, BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { LogPayload } from './payloads.ts';

type Port = Pick<RouterPort, 'nowMs' | 'observer' | 'workerName' | 'count'>;

export function logFunctions(router: Port, facts: ServiceFacts): BuiltinDefinition[] {
  return LOG_LEVELS.map((level) => {
    const id = `engine::log::${level}`;
    return {
      id,
      description: `Logs at the level ${level}`,
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
  { traceparent, baggage, callerWorkerId }: BuiltinCall,
  router: Port,
  { engineVersion, resource }: ServiceFacts,
): LogRecord {
  const nowNano = router.nowMs * 1e6;
  const context = isTraceparent(traceparent) ? traceparent : undefined;
  const caller =
    (service || undefined) ?? functionIdIn(baggage) ?? (callerWorkerId && router.workerName(callerWorkerId));
  return {
    timestamp_unix_nano: nowNano,
    observed_timestamp_unix_nano: nowNano,
    severity_number: SEVERITY_NUMBERS[level],
    severity_text: severityTextOf(SEVERITY_NUMBERS[level]),
    body: message,
    attributes: attributesOf(data),
    trace_id: readId('trace_id', ids.trace_id) ?? (context === undefined ? null : traceIdOf(context)),
    span_id: readId('span_id', ids.span_id) ?? (context === undefined ? null : spanIdOf(context)),
    resource,
    service_name: caller ?? 'unknown',
    instrumentation_scope_name: 'svc',
    instrumentation_scope_version: engineVersion,
    // Whatever trace the record is said to belong to: what caused it counts (O3).
    ...(isQuietContext(traceparent) && { is_quiet: true }),
  };
}

/** Members of an object; anything else stands under one name. */
function attributesOf(data: unknown): Readonly<Record<string, unknown>> {
  if (data === undefined || data === null) return {};
  return typeof data === 'object' && !Array.isArray(data) ? { ...data } : { data };
}

const ID_CHARS_MAX = 64;

function readId(name: string, id: string | null | undefined): string | undefined {
  if (id === undefined || id === null || id === '') return undefined;
  if (id.length <= ID_CHARS_MAX) return id.toLowerCase();
  throw new Refusal('BAD_REQUEST', `'${name}' has ${id.length} characters; at most ${ID_CHARS_MAX} may be`);
}
