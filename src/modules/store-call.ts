// What a function that a store carries out gives it, and what it makes of the reply: neither is parsed on the way.

import { unreadablePayload } from '../core/refusal.ts';
import { findTextMember } from '../protocol/json-member.ts';
import { ID_BYTES_MAX } from '../protocol/limits.ts';
import { Payload } from '../protocol/payload.ts';
import type { BuiltinCall } from '../router/builtin.ts';
import { type Outcome, outcomeOfError } from '../router/reply.ts';
import type { StoreReply } from '../store/contract.ts';

const NO_INPUT = Buffer.alloc(0);

/** The bytes of the payload, as they came where that was as JSON. Throws where they cannot be read. */
export function storeInput(functionId: string, payload: Payload | undefined): Buffer {
  const input = payload === undefined ? NO_INPUT : payload.asJsonBytes();
  if (input === undefined) throw unreadablePayload(`the payload for ${functionId}`);
  return input;
}

/** The name of a scope or stream stands before the value, which may be long. */
const NAME_WITHIN_BYTES = 4_096;

/** Says in the span of the call where it works: Flow and the filters of traces go by it (FLO-2). */
export function notePlace({ span }: BuiltinCall, attribute: string, input: Buffer, member: string): void {
  const name = span && findTextMember(input.subarray(0, NAME_WITHIN_BYTES), member);
  // A longer one names nothing: the store will refuse it.
  if (name !== undefined && name.length <= ID_BYTES_MAX) span?.add(attribute, name);
}

/** The result is a view of the reply. */
export function outcomeOfReply({ result, error }: StoreReply): Outcome {
  if (error !== undefined) return outcomeOfError(error);
  if (result === undefined) return {};
  const bytes = Buffer.from(result.buffer, result.byteOffset, result.length);
  return { result: Payload.ofBytes(bytes, 0, bytes.length) };
}
