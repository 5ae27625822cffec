// The kept history of a failed job's attempts (QUE-2). A job that fails for ever must not grow: the last few attempts
// are kept, and only the beginning of long errors of earlier ones.

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

/** The full error recorded its length: an error that was cut once stays as it is. */
function shortened(attempt: FailedAttempt): FailedAttempt {
  const { error } = attempt;
  if (error.length <= EARLIER_ERROR_CHARS_MAX || CUT.test(error)) return attempt;
  return { ...attempt, error: `${error.slice(0, EARLIER_ERROR_CHARS_MAX)} … (${error.length} characters)` };
}

const CUT = / … \(\d+ characters\)$/;
