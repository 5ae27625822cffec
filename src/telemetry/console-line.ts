// Log records of workers among the engine's own lines on the console, written by the telemetry thread itself:
// nobody's logging may hold up the router (O1). What the console does not take is left out; the store has it.

import type { LogRecord, SeverityText } from '../core/telemetry/records.ts';
import type { Clock } from '../effects/clock.ts';
import { type ConsoleStyle, createLogger, type LogLevel } from '../effects/logger.ts';

const LEVELS: Readonly<Record<SeverityText, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

export function consoleLine(
  style: ConsoleStyle | undefined,
  clock: Clock,
  write: (line: string) => void,
): (record: LogRecord) => void {
  if (style === undefined) return () => {};
  const logger = createLogger({ ...style, clock, write: (line) => writeIfTaken(write, line) });
  return ({ severity_text: severity, body, service_name: service, trace_id: traceId, attributes }) => {
    logger[LEVELS[severity]](body, { service, ...(traceId !== null && { trace_id: traceId }), ...attributes });
  };
}

/** A pipe that is full, or whose reader is gone, throws. */
function writeIfTaken(write: (line: string) => void, line: string): void {
  try {
    write(`${line}\n`);
  } catch {
    // The console is for watching; the record itself is in the store.
  }
}
