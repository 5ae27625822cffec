// What all routers of a process count together. Each has its own numbers in shared memory and reads those of the
// others, so a limit of the process is exceeded at most by what arrives at several routers at the same moment.

/** One count of one router, as the code sees it that keeps a limit. */
export interface SharedCount {
  /** This router has so many now. */
  note(own: number): void;
  /** What the other routers have together. */
  readonly elsewhere: number;
}

/** Of a process with one router. */
export const NOT_SHARED: SharedCount = { note: () => {}, elsewhere: 0 };

const KINDS = ['calls', 'http connections', 'http requests', 'stream connections', 'unread KiB of streams'] as const;
/** Ports of workers beyond these count for each router. */
const PORTS_MAX = 32;
const COLUMNS = KINDS.length + PORTS_MAX;

export class ProcessCounts {
  /** To be shared with the threads. `undefined`: there is one router. */
  readonly shared: SharedArrayBuffer | undefined;
  readonly #numbers: Int32Array;
  readonly #router: number;
  #ports = 0;

  /** `router`: the number of this one, from 0. */
  constructor(shared?: SharedArrayBuffer, router = 0) {
    this.shared = shared;
    this.#numbers = shared === undefined ? new Int32Array() : new Int32Array(shared);
    this.#router = router;
  }

  static ofRouters(routers: number): ProcessCounts {
    if (routers === 1) return new ProcessCounts();
    return new ProcessCounts(new SharedArrayBuffer(routers * COLUMNS * Int32Array.BYTES_PER_ELEMENT));
  }

  of(kind: (typeof KINDS)[number]): SharedCount {
    return this.#column(KINDS.indexOf(kind));
  }

  /** The connections of the next shared port of workers: all routers open these in one order. */
  ofNextPort(): SharedCount {
    const port = this.#ports++;
    return port < PORTS_MAX ? this.#column(KINDS.length + port) : NOT_SHARED;
  }

  #column(column: number): SharedCount {
    if (this.shared === undefined) return NOT_SHARED;
    const numbers = this.#numbers;
    const own = this.#router * COLUMNS + column;
    return {
      note: (count) => Atomics.store(numbers, own, count),
      get elsewhere() {
        let sum = 0;
        for (let at = column; at < numbers.length; at += COLUMNS) if (at !== own) sum += Atomics.load(numbers, at);
        return sum;
      },
    };
  }
}
