// The functions that the telemetry thread and the rollup thread answer. Payloads are passed on unread, and answers come
// back as bytes, so a list of a thousand traces costs the router's thread only its bytes.

import { unreadablePayload } from '../../core/calls/refusal.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import { assertTrusted, type RawBuiltinDefinition } from '../../router/builtin.ts';
import { outcomeOfError } from '../../router/calls/call.ts';
import type { TelemetryClient } from '../../telemetry/client.ts';
import { DESCRIPTIONS } from '../../telemetry/descriptions.ts';

export function threadFunctions(
  client: Pick<TelemetryClient, 'ask'>,
  collector: Pick<Collector, 'flush'>,
): RawBuiltinDefinition[] {
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    handleRaw(payload, call, done) {
      // Observability covers everything, so a caller that may not reach everything sees none of it (X10).
      assertTrusted(id, call);
      const input = payload?.asJsonBytes();
      if (payload !== undefined && input === undefined) throw unreadablePayload(`the payload for ${id}`);
      collector.flush();
      void client.ask(id, input).then((answer) => {
        if (!(answer instanceof ArrayBuffer)) return done(outcomeOfError(answer.error));
        const bytes = Buffer.from(answer);
        done({ result: Payload.ofBytes(bytes, 0, bytes.length) });
      });
    },
  }));
}
