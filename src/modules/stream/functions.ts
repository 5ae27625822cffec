// The functions of streams: the payload goes to the store as it came, the answer comes back as it goes out. What
// changed is told to subscribers, then to triggers, then the caller gets its answer (T1).

import { unreadablePayload } from '../../core/refusal.ts';
import { Payload } from '../../protocol/payload.ts';
import type { BuiltinCall, RawBuiltinDefinition } from '../../router/builtin.ts';
import { type Outcome, outcomeOfError } from '../../router/reply.ts';
import type { Store, StoreEvent, StoreReply } from '../../store/contract.ts';
import type { CustomStreams } from './custom-streams.ts';

const DESCRIPTIONS = {
  'stream::set': 'Writes an item of a group, tells its subscribers and fires stream triggers',
  'stream::get': 'Reads an item of a group',
  'stream::delete': 'Deletes an item of a group, tells its subscribers and fires stream triggers',
  'stream::update': 'Changes an item by a list of operations, in one step',
  'stream::list': 'Lists the items of a group',
  'stream::list_groups': 'Lists the groups of a stream',
  'stream::list_all': 'Lists the streams and their groups',
  'stream::send': 'Sends a custom event to the subscribers of a group',
} as const;

/** What a worker cannot keep itself: a custom event is stored nowhere, and the list is of the engine's own streams. */
const OURS_ALONE: ReadonlySet<string> = new Set(['stream::send', 'stream::list_all']);

export function streamFunctions(
  store: Store,
  custom: CustomStreams,
  tell: (events: readonly StoreEvent[], depth: number) => void,
): readonly RawBuiltinDefinition[] {
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    handleRaw(payload: Payload | undefined, { depth, rights }: BuiltinCall, done: (outcome: Outcome) => void): void {
      const input = payload === undefined ? NO_INPUT : payload.asJsonBytes();
      if (input === undefined) throw unreadablePayload(`the payload for ${id}`);
      const standIn = OURS_ALONE.has(id) ? undefined : custom.standIn(id, input);
      if (standIn !== undefined) {
        custom.call(standIn, { functionId: id, input, depth, rights }, (events) => tell(events, depth), done);
        return;
      }
      store.run(id, input, (reply) => {
        if (reply.events !== undefined && reply.events.length > 0) tell(reply.events, depth);
        done(outcomeOfReply(reply));
      });
    },
  }));
}

const NO_INPUT = Buffer.alloc(0);

function outcomeOfReply({ result, error }: StoreReply): Outcome {
  if (error !== undefined) return outcomeOfError(error);
  if (result === undefined) return {};
  const bytes = Buffer.from(result.buffer, result.byteOffset, result.length);
  return { result: Payload.ofBytes(bytes, 0, bytes.length) };
}
