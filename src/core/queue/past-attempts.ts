// What is kept of the attempts of a job that failed (QUE-2). A job that fails for ever must not grow: the last few are
// kept, and of long errors of earlier ones the beginning.

export interface FailedAttempt {
  attempt: number;
  /** When it ended. */
  at: number;
  error: string;
  worker?: string;
  trace_id?: string;
  /** The wait before the next one. */
  delay_ms?: number;
}

const ATTEMPTS_KEPT = 10;
const EARLIER_ERROR_CHARS_MAX = 500;

export function withAttempt(before: readonly FailedAttempt[] | undefined, newest: FailedAttempt): FailedAttempt[] {
  return [...(before ?? []).slice(1 - ATTEMPTS_KEPT).map(shortened), newest];
}

/** The whole of it said how long it was: an error that was cut once stays as it is. */
function shortened(attempt: FailedAttempt): FailedAttempt {
  const { error } = attempt;
  if (error.length <= EARLIER_ERROR_CHARS_MAX || CUT.test(error)) return attempt;
  return { ...attempt, error: `${error.slice(0, EARLIER_ERROR_CHARS_MAX)} … (${error.length} characters)` };
}

const CUT = / … \(\d+ characters\)$/;
