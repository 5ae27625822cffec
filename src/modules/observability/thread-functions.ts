// The functions that the telemetry thread and the rollup thread answer: payloads go there unread, answers come back
// printed, so a list of a thousand traces costs the router's thread no more than its bytes.

import { Refusal, unreadablePayload } from '../../core/refusal.ts';
import type { Collector } from '../../core/telemetry/collector.ts';
import { Payload } from '../../protocol/payload.ts';
import type { RawBuiltinDefinition } from '../../router/builtin.ts';
import { outcomeOfError } from '../../router/reply.ts';
import type { TelemetryClient } from '../../telemetry/client.ts';
import { DESCRIPTIONS } from '../../telemetry/descriptions.ts';

export function threadFunctions(
  client: Pick<TelemetryClient, 'ask'>,
  collector: Pick<Collector, 'flush'>,
): RawBuiltinDefinition[] {
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    handleRaw(payload, { rights }, done) {
      // What was observed tells of everything: whoever may not reach everything is shown none of it (X10).
      if (rights !== undefined) throw new Refusal('FORBIDDEN', `${id} is for trusted connections`);
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
