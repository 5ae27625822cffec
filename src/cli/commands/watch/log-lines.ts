// Log entries as lines: aligned, and coloured for a terminal; tab-separated on request.

import type { Painter } from '../../text/colour.ts';
import { padEnd, stripUnsafe, stripUnsafeLines } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, numberIn, textIn } from '../../text/records.ts';
import type { TimeStyle } from '../../text/times.ts';

export interface LogLineOptions {
  readonly isPlain: boolean;
  readonly paint: Painter;
  readonly timeStyle: TimeStyle;
  readonly nowMs: number;
  /** Attributes to show; all of them when undefined. */
  readonly fields: readonly string[] | undefined;
}

const SERVICE_COLUMNS = 16;
const SEVERITY_COLUMNS = 5;

export function timeOf(log: JsonRecord): number {
  const nano = numberIn(log, 'timestamp_unix_nano') || numberIn(log, 'observed_timestamp_unix_nano') || 0;
  return nano / 1e6;
}

/** Without the final line break. */
export function logLine(log: JsonRecord, options: LogLineOptions): string {
  const attributes = pairsOf(log, options.fields);
  if (options.isPlain) {
    const pairs = attributes.map(([key, value]) => `${key}=${value}`).join(' ');
    const time = new Date(Math.floor(timeOf(log))).toISOString();
    const words = ['severity_text', 'service_name', 'trace_id', 'body'].map((name) => textIn(log, name));
    return [time, ...words, pairs].map(stripUnsafe).join('\t');
  }
  const { paint, timeStyle, nowMs } = options;
  const severity = textIn(log, 'severity_text');
  const time = clockText(timeOf(log), timeStyle, nowMs);
  const service = padEnd(stripUnsafe(textIn(log, 'service_name')), SERVICE_COLUMNS);
  const [first = '', ...more] = stripUnsafeLines(textIn(log, 'body')).split('\n');
  const pairs = attributes.map(([key, value]) => `${key}=${value}`).map(stripUnsafe);
  const head = [
    paint.dim(time),
    severityPaint(severity, paint)(padEnd(stripUnsafe(severity), SEVERITY_COLUMNS)),
    paint.bold(service),
    [first, paint.dim(pairs.join(' '))].filter((part) => part !== '').join('  '),
  ].join('  ');
  const indent = ' '.repeat(time.length + SEVERITY_COLUMNS + 4);
  return [head, ...more.map((line) => `${indent}${line}`)].join('\n');
}

/** An absolute time: the time of day, with the date if it is not today. */
export function clockText(unixMs: number, style: TimeStyle, nowMs: number): string {
  if (style === 'utc') return new Date(Math.floor(unixMs)).toISOString();
  const moment = new Date(unixMs);
  const digits = (value: number, count: number) => String(value).padStart(count, '0');
  const time = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map((part) => digits(part, 2)).join(':');
  const clock = `${time}.${digits(moment.getMilliseconds(), 3)}`;
  if (moment.toDateString() === new Date(nowMs).toDateString()) return clock;
  return `${moment.getFullYear()}-${digits(moment.getMonth() + 1, 2)}-${digits(moment.getDate(), 2)} ${clock}`;
}

export function severityPaint(severity: string, paint: Painter): (text: string) => string {
  if (/error|fatal/i.test(severity)) return paint.red;
  if (/warn/i.test(severity)) return paint.yellow;
  return /info/i.test(severity) ? paint.green : paint.dim;
}

/** Attributes in the requested order, or as stored. A field of the entry itself can be requested, too. */
function pairsOf(log: JsonRecord, fields: readonly string[] | undefined): [string, string][] {
  const attributes = isRecord(log.attributes) ? log.attributes : {};
  const names = fields ?? Object.keys(attributes);
  return names.flatMap((name) => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : fields === undefined ? undefined : log[name];
    return value === undefined || value === null
      ? []
      : [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
}
