// What a function that a store carries out gives it, and what it makes of the reply: neither is parsed on the way.

import { unreadablePayload } from '../core/refusal.ts';
import { Payload } from '../protocol/payload.ts';
import { type Outcome, outcomeOfError } from '../router/reply.ts';
import type { StoreReply } from '../store/contract.ts';

const NO_INPUT = Buffer.alloc(0);

/** The bytes of the payload, as they came where that was as JSON. Throws where they cannot be read. */
export function storeInput(functionId: string, payload: Payload | undefined): Buffer {
  const input = payload === undefined ? NO_INPUT : payload.asJsonBytes();
  if (input === undefined) throw unreadablePayload(`the payload for ${functionId}`);
  return input;
}

/** The result is a view of the reply. */
export function outcomeOfReply({ result, error }: StoreReply): Outcome {
  if (error !== undefined) return outcomeOfError(error);
  if (result === undefined) return {};
  const bytes = Buffer.from(result.buffer, result.byteOffset, result.length);
  return { result: Payload.ofBytes(bytes, 0, bytes.length) };
}
