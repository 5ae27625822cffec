// The exit codes of `svc` (CLI-4), the exit code for each error code of the engine, and the codes of `svc check …`.

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  timedOut: 4,
  unreachable: 5,
  refused: 6,
  conflict: 7,
  storage: 74,
  dependency: 75,
  configuration: 78,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The table in `svc help exit-codes`. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'Done.',
  1: 'Failed: the handler threw, or a check found a failure.',
  2: 'Usage: unknown command or flag, bad value, invalid JSON.',
  3: 'Not found: function, worker, queue, key, trace or receipt.',
  4: 'Timed out.',
  5: 'Engine not reachable.',
  6: 'Refused: unauthorised, forbidden, overloaded, draining, rate limit, queue or storage full, enqueue rejected.',
  7: 'Conflict: version changed, already exists, port or data directory in use.',
  74: 'Engine: the storage failed or is damaged.',
  75: 'Engine: a Redis or RabbitMQ was not available at the start.',
  78: 'Engine: the configuration is missing or invalid.',
  130: 'Interrupted (Ctrl-C), or stopped by a second signal.',
  143: 'Terminated.',
};

/** Error codes with an exit code of their own. Codes of handlers count as failed. */
const EXIT_OF_ERROR: Readonly<Record<string, ExitCode>> = {
  function_not_found: EXIT.notFound,
  NOT_FOUND: EXIT.notFound,
  QUEUE_NOT_FOUND: EXIT.notFound,
  TIMEOUT: EXIT.timedOut,
  UNAUTHORIZED: EXIT.refused,
  FORBIDDEN: EXIT.refused,
  RATE_LIMITED: EXIT.refused,
  OVERLOADED: EXIT.refused,
  SHUTTING_DOWN: EXIT.refused,
  PAYLOAD_TOO_LARGE: EXIT.refused,
  STORAGE_FULL: EXIT.refused,
  STORAGE_UNAVAILABLE: EXIT.refused,
  enqueue_error: EXIT.refused,
  FUNCTION_NAMESPACE_CONFLICT: EXIT.conflict,
  CONFLICT: EXIT.conflict,
};

/**
 * The exit code for an error from the engine. For a refused enqueue the `reason` decides: a queue that does not exist
 * is "not found", all other reasons are refusals.
 */
export function exitCodeOfError(code: string, reason?: string): ExitCode {
  if (code === 'enqueue_error' && reason === 'QUEUE_NOT_FOUND') return EXIT.notFound;
  return (Object.hasOwn(EXIT_OF_ERROR, code) ? EXIT_OF_ERROR[code] : undefined) ?? EXIT.failed;
}

/** Exit codes of these commands, instead of those of CLI-4. */
export const MONITOR_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'Everything is fine.'],
  ['1', 'Warning: a warning threshold is reached.'],
  ['2', 'Critical: down, missing, or a critical threshold is reached.'],
  ['3', 'Unknown: the check could not run, or was called with a wrong argument.'],
];
