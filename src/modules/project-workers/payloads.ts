// The payloads of `worker::…` (modules 18). Times are in milliseconds.

export interface AddWorker {
  source: { kind: 'local'; path: string } | { kind: 'builtin'; name: string };
  /** The entry's `config`. */
  config?: unknown;
  /** How long to wait until its functions are registered. 0: return when it is in the file. */
  wait_ms?: number;
  /** Only report what would be done. */
  dry_run?: boolean;
}

export interface NameWorker {
  name: string;
  wait_ms?: number;
}

export interface StopWorker {
  name: string;
  /** How long its handlers may take to finish; then it is killed. */
  drain_ms?: number;
  wait_ms?: number;
}

export interface ReadLogs {
  name: string;
  /** Only lines after this number. */
  after?: number;
  /** Only lines since that time, Unix milliseconds. */
  since?: number;
  limit?: number;
}
