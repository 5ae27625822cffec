// Lines of pino as records of the worker (SDK-9). pino is not needed for it: its lines are JSON.

import type { Logger, LoggerLevel } from './logger.ts';
import { isRecord } from './record.ts';

/**
 * What pino writes to.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 * import { type PinoStream, pinoStream } from 'svc-sdk/logging';
 *
 * const stream: PinoStream = pinoStream(registerWorker().logger);
 * stream.write('{"level":30,"msg":"started"}\n');
 */
export interface PinoStream {
  write(lines: string): void;
}

/**
 * A destination for pino, of whose lines records of the worker become: bound to the handler that logs and to its trace,
 * with everything that the line holds beside level, time and message as fields. Which levels there are is said to pino.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 * import { pinoStream } from 'svc-sdk/logging';
 *
 * const svc = registerWorker();
 * // To the terminal as well: pino({ level: 'debug' }, pino.multistream([
 * //   { stream: process.stdout }, { level: 'debug', stream: pinoStream(svc.logger) }]));
 * const destination = pinoStream(svc.logger);
 * destination.write('{"level":50,"msg":"no stock","sku":"a1"}\n');
 */
export function pinoStream(logger: Logger): PinoStream {
  return {
    write(lines) {
      for (const line of String(lines).split('\n')) if (line.trim() !== '') tell(logger, line);
    },
  };
}

function tell(logger: Logger, line: string): void {
  const read = readLine(line);
  if (read === undefined) return logger.info(line);
  const { level, time: _time, pid: _pid, hostname: _hostname, msg, ...fields } = read;
  const text = typeof msg === 'string' ? msg : JSON.stringify(fields);
  logger[levelOf(level)](text, Object.keys(fields).length > 0 ? fields : undefined);
}

function readLine(line: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(line);
    return isRecord(read) ? read : undefined;
  } catch {
    // A line of a format of the user's own.
    return undefined;
  }
}

/** Numbers are pino's; it writes names instead where `formatters.level` says so. */
function levelOf(level: unknown): LoggerLevel {
  if (typeof level === 'string') return NAMED.get(level.toLowerCase()) ?? 'info';
  const number = typeof level === 'number' ? level : INFO;
  return BOUNDS.find(([below]) => number < below)?.[1] ?? 'error';
}

const INFO = 30;
const BOUNDS: readonly (readonly [number, LoggerLevel])[] = [
  [20, 'trace'],
  [INFO, 'debug'],
  [40, 'info'],
  [50, 'warn'],
];
const NAMED: ReadonlyMap<string, LoggerLevel> = new Map([
  ['trace', 'trace'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
  ['fatal', 'error'],
]);
