// A call that the engine answers with an error of its own. Thrown by built-in functions, turned into a reply
// in one place (`router/reply.ts`).

import type { ErrorCode } from '../protocol/errors.ts';
import type { ErrorBody } from '../protocol/frames.ts';

export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message };
  }
}

/** The texts of refusals that more than one place gives. */
export const refusals = {
  functionNotFound: (id: string) => new Refusal('function_not_found', `Function ${id} not found`),
  shuttingDown: () => new Refusal('SHUTTING_DOWN', 'The engine is shutting down and takes no new calls'),
  stopped: () =>
    new Refusal(
      'invocation_stopped',
      "Invocation stopped: the worker's connection ended; whether it took effect is unknown",
    ),
  timedOut: (timeoutMs: number) => new Refusal('TIMEOUT', `invocation timed out after ${timeoutMs}ms`),
};

/** A payload of the binary wire is looked into only where it must become text; there it may turn out to be none. */
export function unreadablePayload(what: string): Refusal {
  return new Refusal('BAD_REQUEST', `${what[0]?.toUpperCase()}${what.slice(1)} is not JSON, or nested too deep`);
}
