// A call that the engine answers with an error of its own. Thrown by built-in functions, turned into a reply in one
// place (`router/calls/call.ts`).
//
// `readPayload` checks the payload of a built-in function with its compiled validator. A payload that does not fit is
// refused with the field, what it must be and what was found.

import type { ErrorCode } from '../../protocol/frames/errors.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { mismatchText } from '../../protocol/json/expected-text.ts';
import type { Payload } from '../../protocol/payload/payload.ts';

export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }

  /** Code and message on one line. */
  get line(): string {
    return `${this.code}: ${this.message}`;
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message };
  }
}

/** The messages of refusals that several places use. */
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

/** A payload of the binary wire is parsed only where it must become text; only then invalid JSON is found. */
export function unreadablePayload(what: string, payload: Payload | undefined): Refusal {
  const offence = payload?.offence;
  const subject = `${what[0]?.toUpperCase()}${what.slice(1)}`;
  if (offence === undefined) return new Refusal('BAD_REQUEST', `${subject} is not JSON, or nested too deep`);
  return new Refusal('BAD_REQUEST', `${subject} is not readable ${payload?.form}: ${offence}`);
}

interface FieldError {
  readonly path: string;
  readonly expected: string;
  readonly value?: unknown;
}

export type Validator<T> = (
  input: unknown,
) => { success: true; data: T } | { success: false; data: unknown; errors: readonly FieldError[] };

/** An absent payload counts as an empty one, because clients leave it out when it has no fields. */
export function readPayload<T>(functionId: string, validate: Validator<T>, payload: unknown): T {
  const verdict = validate(payload ?? {});
  if (verdict.success) return verdict.data;
  const [first] = verdict.errors;
  const detail = first === undefined ? 'it has the wrong shape' : describe(first);
  throw new Refusal('deserialization_error', `Failed to deserialize input for ${functionId}: ${detail}`);
}

function describe({ path, expected, value }: FieldError): string {
  const field = path === '$input' ? 'the payload' : `field '${path.replace(/^\$input\.?/, '')}'`;
  return `${field} ${mismatchText(expected, value)}`;
}
