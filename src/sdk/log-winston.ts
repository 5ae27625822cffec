// Records of winston as records of the worker (SDK-9). winston is not needed for it: its transports are object streams
// that keep to the level of the logger they are in.

import { Writable } from 'node:stream';
import type { Logger, LoggerLevel } from './logger.ts';
import { textOf } from './otlp-json.ts';
import { isRecord } from './record.ts';

/**
 * A transport for winston, of whose entries records of the worker become: bound to the handler that logs and to its
 * trace, with the entry's metadata as fields. It keeps to its own `level`, else to that of the logger.
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
  /** The least important level that is taken; that of the logger where none is set. */
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

  /** What winston asks a transport for. */
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

  /** As every transport of winston does: the more important, the smaller the number. */
  #takes(name: string): boolean {
    if (!isRecord(this.#parent)) return true;
    const { levels, level: usual } = this.#parent;
    const least = this.level ?? usual;
    if (!isRecord(levels) || typeof least !== 'string') return true;
    const [limit, number] = [levels[least], levels[name]];
    return typeof limit !== 'number' || typeof number !== 'number' || number <= limit;
  }
}

/** winston's own name of the level; `level` may carry colours. */
function nameOf(info: unknown): string | undefined {
  const name: unknown = isRecord(info) ? Reflect.get(info, LEVEL) : undefined;
  return typeof name === 'string' ? name : undefined;
}

const LEVEL = Symbol.for('level');

/** The levels that come with winston: npm's, and those of syslog. */
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
