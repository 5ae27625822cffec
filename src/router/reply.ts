// What a call came to, in the one form in which every part of the router passes it on.

import type { Refusal } from '../core/refusal.ts';
import { rawJson } from '../protocol/byte-string.ts';
import type { ErrorBody } from '../protocol/frames.ts';
import { Payload } from '../protocol/payload.ts';

/** No `result` and no `error`: success without a value. */
export interface Outcome {
  readonly result?: Payload | undefined;
  readonly error?: Payload | undefined;
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

export function outcomeOf(refusal: Refusal): Outcome {
  return outcomeOfError(refusal.toBody());
}

export function outcomeOfError(error: ErrorBody): Outcome {
  return { error: Payload.ofText(rawJson(error)) };
}

export function outcomeOfValue(value: unknown): Outcome {
  return { result: Payload.ofText(rawJson(value ?? null)) };
}
