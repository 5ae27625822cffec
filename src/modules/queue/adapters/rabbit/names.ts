// The names in RabbitMQ, and the path of a message that has to wait.
//
// Waiting uses a ladder of queues whose messages live 64 ms, 128 ms, 256 ms … A message carries the length of its wait
// in binary, one word of its routing key for each rung. It stops at the rungs whose word is 1, falls from rung to rung
// when its time there is over, and from the last one into its queue. So any wait is exact to within one rung.

import { createHash } from 'node:crypto';

/** Of the lowest rung. */
export const RUNG_MS = 64;
/** The highest waits for half a year: together they hold a year. */
export const RUNGS = 29;

const READABLE_MAX = 120;

export class BrokerNames {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  work(queue: string): string {
    return `${this.#prefix}.work.${wordOf(queue)}`;
  }

  /** Jobs that wait for a worker with their function. */
  parked(queue: string): string {
    return `${this.#prefix}.parked.${wordOf(queue)}`;
  }

  dead(queue: string): string {
    return `${this.#prefix}.dead.${wordOf(queue)}`;
  }

  /** Holds the queues, their kinds and subscriptions. */
  get book(): string {
    return `${this.#prefix}.book`;
  }

  /** Exchange and queue of one rung; below the lowest one: the exchange that leads into the queues. */
  rung(index: number): string {
    return index < 0 ? `${this.#prefix}.due` : `${this.#prefix}.wait.${index}`;
  }

  /** Where a message begins its wait, which is never shorter than requested. */
  wait(queue: string, delayMs: number): { readonly rung: number; readonly routingKey: string } {
    const units = Math.min(2 ** RUNGS - 1, Math.max(1, Math.ceil(delayMs / RUNG_MS)));
    const bits = units.toString(2).padStart(RUNGS, '0');
    return { rung: RUNGS - 1 - bits.indexOf('1'), routingKey: `${[...bits].join('.')}.${wordOf(queue)}` };
  }

  /** Which messages a rung keeps (`1`) and which it passes on (`0`). */
  static rungPattern(index: number, bit: '0' | '1'): string {
    return [...Array.from({ length: RUNGS - 1 - index }, () => '*'), bit, '#'].join('.');
  }

  static duePattern(queue: string): string {
    return `#.${wordOf(queue)}`;
  }
}

/** One word of a routing key, always the same for the same queue; readable if it is short enough. */
function wordOf(queue: string): string {
  const safe = encodeURIComponent(queue).replaceAll('.', '%2E').replaceAll('*', '%2A');
  if (safe.length <= READABLE_MAX) return safe;
  return `${safe.slice(0, READABLE_MAX)}~${createHash('sha256').update(queue).digest('hex').slice(0, 20)}`;
}
