// `svc-sdk/logging`: for programs that already use another logger (SDK-9). Lines of `console`, pino and winston become
// records of the worker. Neither pino nor winston is imported: the lines of pino are JSON, and the transports of
// winston are object streams that apply the level of their logger.

import { Writable } from 'node:stream';
import { format } from 'node:util';
import { isRecord } from '../protocol/json/record.ts';
import { textOf } from './telemetry/otlp-json.ts';
import type { Logger, LoggerLevel } from './telemetry/telemetry.ts';

/**
 * The methods of `console` that the bridge replaces.
 *
 * @example
 * import { bridgeConsole, type ConsoleMethods } from 'svc-sdk/logging';
 * import { registerWorker } from 'svc-sdk';
 *
 * const quiet: ConsoleMethods = { trace() {}, debug() {}, log() {}, info() {}, warn() {}, error() {} };
 * bridgeConsole(registerWorker().logger, quiet);
 * quiet.info('in the console of the engine, and nowhere else');
 */
export interface ConsoleMethods {
  trace(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}

/**
 * Makes each line written with `console` a record of the worker as well, with the handler that wrote it and its trace.
 * The line is still printed. A plain object after a text holds the record's fields. Returns a function that ends this.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 * import { bridgeConsole } from 'svc-sdk/logging';
 *
 * const svc = registerWorker();
 * const end = bridgeConsole(svc.logger);
 * svc.registerFunction('parcels::pack', ({ sku }: { sku: string }) => {
 *   console.info('packing', { sku });
 * });
 * svc.on('disconnected', end);
 */
export function bridgeConsole(logger: Logger, target: ConsoleMethods = console): () => void {
  // A line that is printed while a record is made must not make another record.
  let isMaking = false;
  const bridges = CONSOLE_METHODS.map(([method, level]) => {
    const original = target[method];
    const bridged = (...values: unknown[]): void => {
      Reflect.apply(original, target, values);
      if (isMaking) return;
      isMaking = true;
      try {
        const { text, fields } = readConsoleLine(values);
        logger[level](text, fields);
      } catch {
        // A value that cannot be shown costs its record; the line itself is printed.
      } finally {
        isMaking = false;
      }
    };
    target[method] = bridged;
    return { method, original, bridged };
  });
  return () => {
    for (const { method, original, bridged } of bridges) if (target[method] === bridged) target[method] = original;
  };
}

const CONSOLE_METHODS: readonly (readonly [keyof ConsoleMethods, LoggerLevel])[] = [
  ['trace', 'trace'],
  ['debug', 'debug'],
  ['log', 'info'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
];

/** In a text with placeholders the object may belong to one of them: then the whole line is text. */
function readConsoleLine(values: readonly unknown[]): { text: string; fields: object | undefined } {
  const [first] = values;
  const last = values.at(-1);
  const holdsFields = values.length > 1 && typeof first === 'string' && !first.includes('%') && isPlain(last);
  if (!holdsFields) return { text: format(...values), fields: undefined };
  return { text: format(...values.slice(0, -1)), fields: last };
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

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
      for (const line of String(lines).split('\n')) if (line.trim() !== '') logPinoLine(logger, line);
    },
  };
}

function logPinoLine(logger: Logger, line: string): void {
  const read = readPinoLine(line);
  if (read === undefined) return logger.info(line);
  const { level, time: _time, pid: _pid, hostname: _hostname, msg, ...fields } = read;
  const text = typeof msg === 'string' ? msg : JSON.stringify(fields);
  logger[pinoLevelOf(level)](text, Object.keys(fields).length > 0 ? fields : undefined);
}

function readPinoLine(line: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(line);
    return isRecord(read) ? read : undefined;
  } catch {
    // A line in a format of the user's own.
    return undefined;
  }
}

/** pino's levels are numbers, or names if `formatters.level` says so. */
function pinoLevelOf(level: unknown): LoggerLevel {
  if (typeof level === 'string') return PINO_NAMES.get(level.toLowerCase()) ?? 'info';
  const number = typeof level === 'number' ? level : PINO_INFO;
  return PINO_BOUNDS.find(([below]) => number < below)?.[1] ?? 'error';
}

const PINO_INFO = 30;
const PINO_BOUNDS: readonly (readonly [number, LoggerLevel])[] = [
  [20, 'trace'],
  [PINO_INFO, 'debug'],
  [40, 'info'],
  [50, 'warn'],
];
const PINO_NAMES: ReadonlyMap<string, LoggerLevel> = new Map([
  ['trace', 'trace'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
  ['fatal', 'error'],
]);

/**
 * A transport for winston that turns each entry into a record of the worker, with the handler that logs and its trace.
 * The entry's metadata becomes its fields. It applies its own `level`, else that of the logger.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 * import { WinstonTransport } from 'svc-sdk/logging';
 *
 * const svc = registerWorker();
 * // winston.createLogger({ transports: [new winston.transports.Console(), new WinstonTransport(svc.logger)] });
 * const transport = new WinstonTransport(svc.logger);
 * transport.level = 'warn';
 */
export class WinstonTransport extends Writable {
  /** The least important level that it accepts; if unset, that of the logger. */
  level?: string;
  readonly #logger: Logger;
  #parent: unknown;

  constructor(logger: Logger) {
    super({ objectMode: true });
    this.#logger = logger;
    this.on('pipe', (parent) => {
      this.#parent = parent;
    });
  }

  /** The method that winston calls. */
  log(info: unknown, done: () => void): void {
    const { level, message, ...fields } = isRecord(info) ? info : { level: 'info', message: info };
    const name = winstonLevelOf(info) ?? String(level);
    if (this.#takes(name)) {
      this.#logger[WINSTON_LEVELS.get(name) ?? 'info'](
        textOf(message),
        Object.keys(fields).length > 0 ? fields : undefined,
      );
    }
    done();
  }

  override _write(info: unknown, _encoding: string, done: () => void): void {
    this.log(info, done);
  }

  /** As in every transport of winston: the more important the level, the smaller its number. */
  #takes(name: string): boolean {
    if (!isRecord(this.#parent)) return true;
    const { levels, level: usual } = this.#parent;
    const least = this.level ?? usual;
    if (!isRecord(levels) || typeof least !== 'string') return true;
    const [limit, number] = [levels[least], levels[name]];
    return typeof limit !== 'number' || typeof number !== 'number' || number <= limit;
  }
}

/** winston's own name of the level; `level` may contain colour codes. */
function winstonLevelOf(info: unknown): string | undefined {
  const name: unknown = isRecord(info) ? Reflect.get(info, WINSTON_LEVEL) : undefined;
  return typeof name === 'string' ? name : undefined;
}

const WINSTON_LEVEL = Symbol.for('level');

/** The levels of winston: those of npm, and those of syslog. */
const WINSTON_LEVELS: ReadonlyMap<string, LoggerLevel> = new Map([
  ['emerg', 'error'],
  ['alert', 'error'],
  ['crit', 'error'],
  ['error', 'error'],
  ['warning', 'warn'],
  ['warn', 'warn'],
  ['notice', 'info'],
  ['info', 'info'],
  ['http', 'debug'],
  ['verbose', 'debug'],
  ['debug', 'debug'],
  ['silly', 'trace'],
]);
