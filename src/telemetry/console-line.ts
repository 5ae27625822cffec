// Log records of workers among the engine's own lines on the console, written by the telemetry thread itself: no
// worker's logging may delay the router (O1). Records over the limit of their service, or refused by the console, are
// left out there and counted; the store and log triggers still get them.

import { redactFields } from '../core/config-fields/redaction.ts';
import { LineLimit } from '../core/limits/line-limit.ts';
import { LOG_WRITER, type LogRecord, type SeverityText } from '../core/telemetry/records/records.ts';
import type { Clock } from '../effects/clock.ts';
import {
  type ConsoleStyle,
  LimitedLines,
  LOG_LEVELS,
  type LogLevel,
  levelOfSummary,
  renderLine,
} from '../effects/logger.ts';

const LEVELS: Readonly<Record<SeverityText, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** Services with a limit of their own; callers choose their service names. */
const SERVICES_MAX = 64;
/** All services together, as a multiple of the limit of one. */
const TOTAL_FACTOR = 10;

export interface RecordConsoleOptions {
  /** Absent: records are not shown. */
  readonly style: ConsoleStyle | undefined;
  /** Of one service. */
  readonly linesPerSecond: number;
  readonly clock: Clock;
  /** Whether the console took it. */
  write(line: string): boolean;
}

export interface RecordConsole {
  show(record: LogRecord): void;
  /** No more records come. */
  end(): void;
}

export function recordConsole({ style, linesPerSecond, clock, write }: RecordConsoleOptions): RecordConsole {
  if (style === undefined) return { show: () => {}, end: () => {} };
  const limits = { perSecond: linesPerSecond, kindsMax: SERVICES_MAX, totalPerSecond: linesPerSecond * TOTAL_FACTOR };
  const lines = new LimitedLines(new LineLimit(limits, 'all others'), clock, ({ kind: service, count }) => {
    const limit = `${linesPerSecond} lines a second (logs_console_lines_per_second)`;
    const text = 'Log records of a service were left out on this console, and nowhere else';
    const fields = { service, left_out: count, limit };
    return write(renderLine(style, clock, levelOfSummary(style.level), text, fields));
  });
  const lowest = LOG_LEVELS.indexOf(style.level);
  return {
    show(record) {
      const level = LEVELS[record.severity_text];
      if (LOG_LEVELS.indexOf(level) < lowest || !lines.admits(record.service_name)) return;
      const line = renderLine(style, clock, level, record.body, redactFields(fieldsOf(record)));
      if (!write(line)) lines.notWritten(record.service_name);
    },
    end: () => lines.end(),
  };
}

/** The fields of the line itself; a record must not overwrite them. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['time', 'level', 'message', 'service', 'trace_id']);

function fieldsOf({ service_name: service, trace_id: traceId, attributes }: LogRecord): Record<string, unknown> {
  const given = Object.entries(attributes)
    .filter(([key, value]) => key !== LOG_WRITER.worker && !(key === LOG_WRITER.function && value === service))
    .map(([key, value]) => [OWN_FIELDS.has(key) ? `data.${key}` : key, value]);
  return { service, ...(traceId !== null && { trace_id: traceId }), ...Object.fromEntries(given) };
}
