// The outcome of a call, in the one form that every part of the router uses.

import type { Refusal } from '../../core/calls/refusal.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';

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
