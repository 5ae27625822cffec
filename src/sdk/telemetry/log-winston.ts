// Turns records of winston into records of the worker (SDK-9). It does not need winston: its transports are object
// streams that apply the level of their logger.

import { Writable } from 'node:stream';
import { isRecord } from '../schema/record.ts';
import type { Logger, LoggerLevel } from './logger.ts';
import { textOf } from './otlp-json.ts';

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
    const name = nameOf(info) ?? String(level);
    if (this.#takes(name)) {
      this.#logger[LEVELS.get(name) ?? 'info'](textOf(message), Object.keys(fields).length > 0 ? fields : undefined);
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
function nameOf(info: unknown): string | undefined {
  const name: unknown = isRecord(info) ? Reflect.get(info, LEVEL) : undefined;
  return typeof name === 'string' ? name : undefined;
}

const LEVEL = Symbol.for('level');

/** The levels of winston: those of npm, and those of syslog. */
const LEVELS: ReadonlyMap<string, LoggerLevel> = new Map([
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
