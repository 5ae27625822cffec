// The input of a function that a store carries out, and its reply: neither is parsed on the way.

import { unreadablePayload } from '../core/calls/refusal.ts';
import { ID_BYTES_MAX } from '../protocol/frames/limits.ts';
import { findTextMember } from '../protocol/json/json-member.ts';
import { Payload } from '../protocol/payload/payload.ts';
import type { BuiltinCall } from '../router/builtin.ts';
import { type Outcome, outcomeOfError } from '../router/calls/call.ts';
import type { StoreReply } from '../store/thread/contract.ts';

const NO_INPUT = Buffer.alloc(0);

/** The bytes of the payload, unchanged if it came as JSON. Throws if they cannot be read. */
export function storeInput(functionId: string, payload: Payload | undefined): Buffer {
  const input = payload === undefined ? NO_INPUT : payload.asJsonBytes();
  if (input === undefined) throw unreadablePayload(`the payload for ${functionId}`);
  return input;
}

/** The name of a scope or stream comes before the value, which may be long. */
const NAME_WITHIN_BYTES = 4_096;

/** Notes the place of the call in its span, for the Flow page and the filters of traces (FLO-2). */
export function notePlace({ span }: BuiltinCall, attribute: string, input: Buffer, member: string): void {
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
