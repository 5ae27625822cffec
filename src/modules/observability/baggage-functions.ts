// `engine::baggage::…`: the baggage in the context of the call. A call cannot change the context of its caller, so
// `set` changes nothing; SDKs have functions of their own for that (modules 11.9).

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { baggageEntries } from '../../core/telemetry/spans/baggage.ts';
import { validateBaggageGet, validateBaggageSet } from '../../generated/module-payloads.ts';
import { SMALL_PAYLOAD_LIMITS } from '../../protocol/frames/limits.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';

const KEY_BYTES_MAX = 256;

export const baggageFunctions: readonly BuiltinDefinition[] = [
  {
    id: 'engine::baggage::get',
    description: 'Reads one entry of the baggage of the call',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload, { baggage }) {
      const { key } = readPayload(this.id, validateBaggageGet, payload);
      return { value: baggageEntries(baggage).find(([known]) => known === key)?.[1] ?? null };
    },
  },
  {
    id: 'engine::baggage::set',
    description: 'Checks an entry of the baggage; the context of the caller is not changed',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload) {
      const { key } = readPayload(this.id, validateBaggageSet, payload);
      const bytes = Buffer.byteLength(key);
      if (bytes === 0 || bytes > KEY_BYTES_MAX) {
        throw new Refusal('BAD_REQUEST', `'key' must have 1 to ${KEY_BYTES_MAX} bytes, found ${bytes}`);
      }
      return { success: true };
    },
  },
  {
    id: 'engine::baggage::get_all',
    description: 'Reads all entries of the baggage of the call',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle: (_payload, { baggage }) => ({ baggage: Object.fromEntries(baggageEntries(baggage)) }),
  },
];
