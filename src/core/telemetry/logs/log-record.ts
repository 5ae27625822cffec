// Log records for the store: levels and their numbers, text without terminal codes, bounded size (modules 11.2,
// guarantees 4), and the engine's own lines as records (modules 11.3).

import type { ServiceIdentity } from '../records/intake.ts';
import type { LogLevel, LogRecord, SeverityText } from '../records/records.ts';

export const SEVERITY_NUMBERS: Readonly<Record<LogLevel, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
};

/** Texts and attributes of one record together, in UTF-8. */
export const RECORD_BYTES_MAX = 16 * 1024;
/** Beyond it the body is cut first: records are found by their attributes. */
const BODY_BYTES_MIN = 4 * 1024;
const ATTRIBUTES_MAX = 128;
export const TRUNCATED_ATTRIBUTE = 'svc.truncated';
const MARK_BYTES = TRUNCATED_ATTRIBUTE.length + 'true'.length;

export function severityTextOf(severityNumber: number): SeverityText {
  if (severityNumber <= 4) return 'TRACE';
  if (severityNumber <= 8) return 'DEBUG';
  if (severityNumber <= 12) return 'INFO';
  return severityNumber <= 16 ? 'WARN' : 'ERROR';
}

/** The record to be kept: `isCut` when something of it is missing, which an attribute then says. */
export function boundRecord(record: LogRecord): { readonly record: LogRecord; readonly isCut: boolean } {
  const body = withoutColours(record.body);
  const attributes = Object.entries(record.attributes);
  const sizes = attributes.map(([key, value]) => Buffer.byteLength(key) + jsonBytes(value));
  const total = Buffer.byteLength(body) + sizes.reduce((sum, size) => sum + size, 0);
  if (total <= RECORD_BYTES_MAX && attributes.length <= ATTRIBUTES_MAX) {
    return { record: body === record.body ? record : { ...record, body }, isCut: false };
  }
  const kept: Record<string, unknown> = Object.create(null);
  const bodyBytes = Math.min(Buffer.byteLength(body), BODY_BYTES_MIN);
  let left = RECORD_BYTES_MAX - MARK_BYTES - bodyBytes;
  for (const [index, [key, value]] of attributes.slice(0, ATTRIBUTES_MAX - 1).entries()) {
    const size = sizes[index] ?? 0;
    if (size > left) continue;
    kept[key] = value;
    left -= size;
  }
  kept[TRUNCATED_ATTRIBUTE] = true;
  return { record: { ...record, body: cutText(body, left + bodyBytes), attributes: kept }, isCut: true };
}

/** No UTF-16 unit takes more in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** At most that many bytes of UTF-8, never half a character. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * UNIT_BYTES_MAX <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  const cut = Buffer.from(text).subarray(0, bytesMax).toString();
  return cut.endsWith('\u{FFFD}') ? cut.slice(0, -1) : cut;
}

/** Terminal codes would colour, or control, the terminal that shows the text later. */
export function withoutColours(text: string): string {
  return text.includes('\u001b') ? text.replace(TERMINAL_CODES, '') : text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes begin with a control character.
const TERMINAL_CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])?/g;

function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/** The fields for filters, order and retention. */
export function timeOf({ timestamp_unix_nano: event, observed_timestamp_unix_nano: observed }: LogRecord): number {
  return event > 0 ? event : observed;
}

/**
 * A line about a log trigger's own failure is quiet: its record would fire the trigger that just failed, and so for
 * ever (O3). The span of the failed call holds the details.
 */
export function recordOfLine(
  level: LogLevel,
  message: string,
  fields: Readonly<Record<string, unknown>>,
  nowMs: number,
  { serviceName, engineVersion, resource }: ServiceIdentity,
): LogRecord {
  const severityNumber = SEVERITY_NUMBERS[level];
  return {
    timestamp_unix_nano: nowMs * 1e6,
    observed_timestamp_unix_nano: nowMs * 1e6,
    severity_number: severityNumber,
    severity_text: severityTextOf(severityNumber),
    body: message,
    attributes: plain(fields),
    trace_id: typeof fields.trace_id === 'string' ? fields.trace_id : null,
    span_id: null,
    resource,
    service_name: serviceName,
    instrumentation_scope_name: 'svc',
    instrumentation_scope_version: engineVersion,
    ...(fields.trigger_type === LOG_TRIGGER && { is_quiet: true }),
  };
}

const LOG_TRIGGER = 'log';

/** Lines of the engine itself are on its console already. */
export function isOwnLine({ resource, service_name: service, instrumentation_scope_name: scope }: LogRecord): boolean {
  return scope === 'svc' && service === resource['service.name'];
}

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
