// `engine::baggage::…`: what the context of the call carries. A call cannot change the context of its caller: `set`
// says so by what it does not do, and SDKs have calls of their own for it (modules 11.9).

import { readPayload } from '../../core/read-payload.ts';
import { Refusal } from '../../core/refusal.ts';
import { baggageEntries } from '../../core/telemetry/baggage.ts';
import { validateBaggageGet, validateBaggageSet } from '../../generated/observability-payloads.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';

const KEY_BYTES_MAX = 256;

export const baggageFunctions: readonly BuiltinDefinition[] = [
  {
    id: 'engine::baggage::get',
    description: 'Reads one entry of the baggage of the call',
    handle(payload, { baggage }) {
      const { key } = readPayload(this.id, validateBaggageGet, payload);
      return { value: baggageEntries(baggage).find(([known]) => known === key)?.[1] ?? null };
    },
  },
  {
    id: 'engine::baggage::set',
    description: 'Checks an entry of the baggage; the context of the caller stays as it is',
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
    handle: (_payload, { baggage }) => ({ baggage: Object.fromEntries(baggageEntries(baggage)) }),
  },
];
