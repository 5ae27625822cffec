// What all routers of a process count together. Each has its own numbers in shared memory and reads those of the
// others, so a limit of the process is exceeded at most by what arrives at several routers at the same moment. Rates
// and the connections of an address are words that all of them change.

import { NOT_SHARED, SharedBytes, type SharedCount, type SharedPort } from './connection-counts.ts';
import { ADDRESS_TABLE_BYTES, giveBackInSecond, SharedAddresses, takeInSecond } from './shared-addresses.ts';

const KINDS = [
  ...(['calls', 'restricted calls', 'channels', 'restricted channels'] as const),
  ...(['http connections', 'http requests', 'waiting http requests', 'stream connections', 'waiting calls'] as const),
] as const;
/** Counted in KiB. */
const BYTES = [
  ...(['HTTP bodies', 'HTTP answers', 'unread of streams', 'unread of workers', 'unread of browsers'] as const),
  ...(['channels in memory', 'channels in files', 'restricted channels in memory'] as const),
  ...(['restricted channels in files', 'restricted payloads', 'most unread of a connection'] as const),
  ...(['waiting calls'] as const),
] as const;
const BYTES_AT = KINDS.length;
const PORTS_AT = BYTES_AT + BYTES.length;
/** Ports of workers beyond these count for each router. */
const PORTS_MAX = 32;
const COLUMNS = PORTS_AT + PORTS_MAX;
/** Ports for browsers share a table. */
const ADDRESS_TABLE = { streams: 0, workers: 1 } as const;
const ADDRESS_TABLES = 2;
const COLUMN_BYTES = Int32Array.BYTES_PER_ELEMENT;
const RATE_BYTES = BigInt64Array.BYTES_PER_ELEMENT;

/** How the first router lays out the memory, which the others get with it. */
export interface SharedCounts {
  readonly memory: SharedArrayBuffer;
  readonly routers: number;
  /** A secret, for the hash of addresses. */
  readonly seed: number;
}

export class ProcessCounts {
  /** To be shared with the threads. `undefined`: there is one router. */
  readonly shared: SharedCounts | undefined;
  readonly #router: number;
  readonly #zeroMs: number;
  #ports = 0;

  /**
   * `router`: the number of this one, from 0. `zeroMs`: what this thread adds to the times that it passes in, so that
   * those of all threads are comparable.
   */
  constructor(shared?: SharedCounts, router = 0, zeroMs = 0) {
    this.shared = shared;
    this.#router = router;
    this.#zeroMs = zeroMs;
  }

  static ofRouters(routers: number, seed: number, zeroMs = 0): ProcessCounts {
    if (routers === 1) return new ProcessCounts();
    const memory = new SharedArrayBuffer(addressesAt(routers) + ADDRESS_TABLES * ADDRESS_TABLE_BYTES);
    return new ProcessCounts({ memory, routers, seed }, 0, zeroMs);
  }

  of(kind: (typeof KINDS)[number]): SharedCount {
    return this.#column(KINDS.indexOf(kind));
  }

  bytesOf(kind: (typeof BYTES)[number]): SharedBytes {
    return new SharedBytes(this.#column(BYTES_AT + BYTES.indexOf(kind)));
  }

  /** How many ports of workers have got their number. */
  get portCount(): number {
    return this.#ports;
  }

  /** The next port gets the number that it has on the first router, which may have failed to open one. */
  continuePortsAt(count: number): void {
    this.#ports = count;
  }

  /** The next shared port of workers: all routers open these in one order. */
  ofNextPort(): SharedPort | undefined {
    const port = this.#ports++;
    return port < PORTS_MAX ? this.#withAddresses(PORTS_AT + port, 'workers') : undefined;
  }

  ofStreamPort(): SharedPort | undefined {
    return this.#withAddresses(KINDS.indexOf('stream connections'), 'streams');
  }

  #withAddresses(column: number, of: keyof typeof ADDRESS_TABLE): SharedPort | undefined {
    const port = this.#port(column);
    if (port === undefined || this.shared === undefined) return undefined;
    const { memory, routers, seed } = this.shared;
    const at = addressesAt(routers) + ADDRESS_TABLE[of] * ADDRESS_TABLE_BYTES;
    // With another seed an address is another one: each port counts its own.
    const table = { memory, at, seed: (seed + column) >>> 0, zeroMs: this.#zeroMs };
    return { ...port, addresses: (limits) => new SharedAddresses(table, limits) };
  }

  #port(column: number): SharedPort | undefined {
    if (this.shared === undefined) return undefined;
    const { memory, routers } = this.shared;
    const words = new BigInt64Array(memory, ratesAt(routers), COLUMNS);
    return {
      open: this.#column(column),
      rate: {
        take: (nowMs, max) => takeInSecond(words, column, nowMs + this.#zeroMs, max),
        giveBack: () => giveBackInSecond(words, column),
      },
    };
  }

  #column(column: number): SharedCount {
    if (this.shared === undefined) return NOT_SHARED;
    const { memory, routers } = this.shared;
    const numbers = new Int32Array(memory, 0, routers * COLUMNS);
    const own = this.#router * COLUMNS + column;
    const ofOthers = Array.from({ length: routers }, (_, router) => router * COLUMNS + column).filter(
      (at) => at !== own,
    );
    return {
      note: (count) => Atomics.store(numbers, own, count),
      get elsewhere() {
        let sum = 0;
        for (const at of ofOthers) sum += Atomics.load(numbers, at);
        return sum;
      },
      get mostElsewhere() {
        return Math.max(0, ...ofOthers.map((at) => Atomics.load(numbers, at)));
      },
    };
  }
}

/** After the counts of all routers, at a multiple of 8. */
function ratesAt(routers: number): number {
  return Math.ceil((routers * COLUMNS * COLUMN_BYTES) / RATE_BYTES) * RATE_BYTES;
}

function addressesAt(routers: number): number {
  return ratesAt(routers) + COLUMNS * RATE_BYTES;
}
