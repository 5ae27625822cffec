// How a command ends: the exit codes of `svc` (CLI-4), and a failure, which says what was attempted, what is wrong and
// what to do next (CLI-9), as text or as JSON (CLI-3).

import { docUrl, ERROR_CODES } from '../../protocol/frames/errors.ts';
import { escapeUnsafe, stripUnsafeLines } from '../text/display-text.ts';

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

/** Codes of the command line itself that docs/errors.md explains next to those of the engine. */
export const OWN_CODES: readonly string[] = [
  'USAGE',
  'CONFIG_INVALID',
  'MANIFEST_INVALID',
  'NODE_TOO_OLD',
  'NOT_CONFIRMED',
  'STORE_IN_USE',
  'FILE_UNUSABLE',
];

export interface FailureReport {
  /** Stable word for scripts. Codes of the engine are passed on unchanged. */
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  /** What to do next. */
  readonly hint?: string;
  /** Further machine-readable fields, next to `code` and `message` in the JSON form. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Lines below the message in the text form: a stack, a list of problems. */
  readonly lines?: readonly string[];
  /** Print the help of the command first. */
  readonly showHelp?: boolean;
}

export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly report: FailureReport;

  constructor(report: FailureReport) {
    super(report.message);
    this.report = report;
  }
}

export function usageFailure(message: string, hint?: string): CliFailure {
  return new CliFailure({ code: 'USAGE', message, exitCode: EXIT.usage, ...(hint === undefined ? {} : { hint }) });
}

/**
 * Converts anything thrown to a failure. A file that cannot be used is reported as such. Any other error that is not a
 * `CliFailure` is a defect of svc and is shown with its stack, which a bug report needs.
 */
export function toFailure(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (isFileError(error)) {
    const [, reason = error.message] = /^\w+: (.*?), \w+ '/.exec(error.message) ?? [];
    const message = `Cannot use ${error.path}: ${reason} (${error.code}).`;
    return new CliFailure({ code: 'FILE_UNUSABLE', message, exitCode: EXIT.failed, details: { path: error.path } });
  }
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack?.split('\n').slice(1) : undefined;
  return new CliFailure({
    code: 'INTERNAL',
    message: `Unexpected: ${message}`,
    exitCode: EXIT.failed,
    hint: 'This is a defect of svc; please report it with the lines above.',
    ...(stack === undefined ? {} : { lines: stack }),
  });
}

/** A Node error about a file that is missing, already exists, or is not accessible. */
function isFileError(error: unknown): error is Error & { readonly code: string; readonly path: string } {
  if (!(error instanceof Error && 'code' in error && 'path' in error && 'syscall' in error)) return false;
  // A program that could not be started has a path as well.
  return typeof error.code === 'string' && typeof error.path === 'string' && !String(error.syscall).startsWith('spawn');
}

/** The failure as text for stderr, without the final line break. */
export function formatFailure(failure: CliFailure, paintLabel: (label: string) => string): string {
  const { message, lines = [], hint } = failure.report;
  const body = stripUnsafeLines([message, ...lines, ...(hint === undefined ? [] : [hint])].join('\n'));
  return `${paintLabel('error:')} ${body}`;
}

/** The failure as one line of JSON: `{"error":{"code","message","hint?","doc_url?",…}}`. */
export function formatFailureJson(failure: CliFailure): string {
  const { code, message, hint, details } = failure.report;
  const isExplained = OWN_CODES.includes(code) || Object.hasOwn(ERROR_CODES, code);
  return escapeUnsafe(
    JSON.stringify({
      error: {
        code,
        message,
        ...(hint === undefined ? {} : { hint }),
        ...(isExplained ? { doc_url: docUrl(code) } : {}),
        ...details,
      },
    }),
  );
}
