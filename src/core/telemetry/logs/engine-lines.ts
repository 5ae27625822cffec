// The engine's own log lines as log records (modules 11.3).

import type { ServiceFacts } from '../records/intake.ts';
import type { LogRecord } from '../records/records.ts';
import { type LogLevel, SEVERITY_NUMBERS, severityTextOf } from './log-record.ts';

/**
 * A line about a log trigger's own failure is quiet: its record would fire the trigger that just failed, and so for
 * ever (O3). The span of the failed call holds the details.
 */
export function recordOfLine(
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>>,
  nowMs: number,
  { serviceName, engineVersion, resource }: ServiceFacts,
): LogRecord {
  const severityNumber = SEVERITY_NUMBERS[level];
  return {
    timestamp_unix_nano: nowMs * 1e6,
    observed_timestamp_unix_nano: nowMs * 1e6,
    severity_number: severityNumber,
    severity_text: severityTextOf(severityNumber),
    body: message,
    attributes: plain(fields),
    trace_id: null,
    span_id: null,
    resource,
    service_name: serviceName,
    instrumentation_scope_name: 'svc',
    instrumentation_scope_version: engineVersion,
    ...(fields.trigger_type === LOG_TRIGGER && { is_quiet: true }),
  };
}

const LOG_TRIGGER = 'log';

/** Values that can be posted to another thread: no functions, no classes. */
function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields).map(([key, value]) => [key, isSimple(value) ? value : jsonOf(value)]);
  return Object.fromEntries(entries);
}

function isSimple(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
