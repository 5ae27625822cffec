// Turns lines of pino into records of the worker (SDK-9). It does not need pino: the lines are JSON.

import { isRecord } from '../schema/record.ts';
import type { Logger, LoggerLevel } from './logger.ts';

/**
 * The stream that pino writes to.
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
 * A destination for pino that turns each line into a record of the worker, with the handler that logs and its trace.
 * Everything in the line except level, time and message becomes a field. Set the level in pino.
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
    // A line in a format of the user's own.
    return undefined;
  }
}

/** pino's levels are numbers, or names if `formatters.level` says so. */
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
