// Payloads that the engine passes on as they were written, so that they arrive digit for digit: the input of a function
// that a store carries out, the reply of the store, and a member of a payload.

import { unreadablePayload } from '../core/calls/refusal.ts';
import { ID_BYTES_MAX } from '../protocol/frames/limits.ts';
import type { RawJson } from '../protocol/json/byte-string.ts';
import { findTextMember, rawMember } from '../protocol/json/json-member.ts';
import { Payload } from '../protocol/payload/payload.ts';
import type { BuiltinCall } from '../router/builtin.ts';
import { type Outcome, outcomeOfError } from '../router/calls/call.ts';
import type { StoreReply } from '../store/thread/contract.ts';

const NO_INPUT = Buffer.alloc(0);

/** The bytes of the payload, unchanged if it came as JSON. Throws if they cannot be read. */
export function storeInput(functionId: string, payload: Payload | undefined): Buffer {
  const input = payload === undefined ? NO_INPUT : payload.asJsonBytes();
  if (input === undefined) throw unreadablePayload(`the payload for ${functionId}`, payload);
  return input;
}

/** The name of a scope or stream comes before the value, which may be long. */
const NAME_WITHIN_BYTES = 4_096;

/** Notes what the call is about in its span, for the Flow page and the filters of traces (FLO-2). */
export function noteSubject({ span }: BuiltinCall, attribute: string, input: Buffer, member: string): void {
  const name = span && findTextMember(input.subarray(0, NAME_WITHIN_BYTES), member);
  // A longer name is not noted: the store will refuse it.
  if (name !== undefined && name.length <= ID_BYTES_MAX) span?.add(attribute, name);
}

/** The result is a view of the reply. */
export function outcomeOfReply({ result, error }: StoreReply): Outcome {
  if (error !== undefined) return outcomeOfError(error);
  if (result === undefined) return {};
  const bytes = Buffer.from(result.buffer, result.byteOffset, result.length);
  return { result: Payload.ofBytes(bytes, 0, bytes.length) };
}

/** A member as the caller wrote it; `undefined` if there is none. */
export function memberAsSent(sent: Payload | undefined, name: string): RawJson | undefined {
  const text = sent?.asText();
  return text === undefined ? undefined : rawMember(text, name);
}
