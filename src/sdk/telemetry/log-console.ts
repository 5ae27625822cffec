// Turns lines of `console` into records of the worker (SDK-9).

import { format } from 'node:util';
import type { Logger, LoggerLevel } from './logger.ts';

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
  const bridges = METHODS.map(([method, level]) => {
    const original = target[method];
    const bridged = (...values: unknown[]): void => {
      Reflect.apply(original, target, values);
      if (isMaking) return;
      isMaking = true;
      try {
        const { text, fields } = readLine(values);
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

const METHODS: readonly (readonly [keyof ConsoleMethods, LoggerLevel])[] = [
  ['trace', 'trace'],
  ['debug', 'debug'],
  ['log', 'info'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
];

/** In a text with placeholders the object may belong to one of them: then the whole line is text. */
function readLine(values: readonly unknown[]): { text: string; fields: object | undefined } {
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
