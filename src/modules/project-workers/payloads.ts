// What callers of `worker::…` say (modules 18). Times in milliseconds.

export interface AddWorker {
  source: { kind: 'local'; path: string } | { kind: 'builtin'; name: string };
  /** The entry's `config`. */
  config?: unknown;
  /** Until its functions are there. 0: as soon as it is in the file. */
  wait_ms?: number;
  /** Tell what would be done. */
  dry_run?: boolean;
}

export interface NameWorker {
  name: string;
  wait_ms?: number;
}

export interface StopWorker {
  name: string;
  /** How long its handlers may finish; then it is killed. */
  drain_ms?: number;
  wait_ms?: number;
}

export interface ReadLogs {
  name: string;
  /** Only lines behind this number. */
  after?: number;
  /** Only lines since then, Unix milliseconds. */
  since?: number;
  limit?: number;
}
