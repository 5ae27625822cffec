// Checks the payload of a built-in function with its compiled validator. A payload that does not fit is refused with
// the field, what it must be and what was found.

import { mismatchText } from '../../protocol/json/expected-text.ts';
import { Refusal } from './refusal.ts';

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
