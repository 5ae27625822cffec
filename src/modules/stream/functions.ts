// The functions of streams: the payload goes to the store as it came, and the store returns the answer in its final
// form. A change is sent to subscribers, then to triggers, and then the caller gets its answer (T1).

import type { Payload } from '../../protocol/payload/payload.ts';
import type { BuiltinCall, Cause, RawBuiltinDefinition } from '../../router/builtin.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { Store, StoreEvent, StoreReply } from '../../store/thread/contract.ts';
import { noteSubject, outcomeOfReply, storeInput } from '../raw-payload.ts';
import type { CustomStreams } from './custom-streams.ts';
import { STREAM_FORMATS } from './formats.ts';

const DESCRIPTIONS = {
  'stream::set': 'Writes an item of a group, notifies its subscribers and fires stream triggers',
  'stream::get': 'Reads an item of a group',
  'stream::delete': 'Deletes an item of a group, notifies its subscribers and fires stream triggers',
  'stream::update': 'Changes an item by a list of operations, in one step',
  'stream::list': 'Lists the items of a group',
  'stream::list_groups': 'Lists the groups of a stream',
  'stream::list_all': 'Lists the streams and their groups',
  'stream::send': 'Sends a custom event to the subscribers of a group',
} as const;

/** What a custom stream cannot do: a custom event is not stored, and the list is of the engine's own streams. */
const OURS_ALONE: ReadonlySet<string> = new Set(['stream::send', 'stream::list_all']);

export interface StreamListeners {
  /** A change happened, and is durable. */
  changed(events: readonly StoreEvent[], cause: Cause): void;
  /** For the store, if a change may create jobs. */
  traceOf(cause: Cause): string | undefined;
}

export function streamFunctions(
  store: Store,
  custom: CustomStreams,
  { changed, traceOf }: StreamListeners,
): readonly RawBuiltinDefinition[] {
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    ...STREAM_FORMATS[id],
    handleRaw(payload: Payload | undefined, call: BuiltinCall, done: (outcome: Outcome) => void): void {
      const input = storeInput(id, payload);
      noteSubject(call, 'svc.stream.name', input, 'stream_name');
      const standIn = OURS_ALONE.has(id) ? undefined : custom.standIn(id, input);
      if (standIn !== undefined) {
        custom.call(standIn, { ...call, functionId: id, input }, (events) => changed(events, call), done);
        return;
      }
      const answer = (reply: StoreReply): void => {
        if (reply.events !== undefined && reply.events.length > 0) changed(reply.events, call);
        done(outcomeOfReply(reply));
      };
      store.run(id, input, answer, { trace: traceOf(call) });
    },
  }));
}
