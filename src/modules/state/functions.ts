// The functions of state: the payload goes to the store as it came, the answer comes back as it goes out.

import { unreadablePayload } from '../../core/refusal.ts';
import { Payload } from '../../protocol/payload.ts';
import type { BuiltinCall, RawBuiltinDefinition } from '../../router/builtin.ts';
import { type Outcome, outcomeOfError } from '../../router/reply.ts';
import type { Store, StoreEvent, StoreReply } from '../../store/contract.ts';

export interface StateListeners {
  /** Whether anybody is to be told of changes: asked before each of them. */
  readonly isListening: boolean;
  /** Something changed, and is durable; told in the order of the changes (S5). */
  tell(event: StoreEvent, depth: number): void;
}

const DESCRIPTIONS = {
  'state::get': 'Reads the value of a key in a scope',
  'state::set': 'Writes the value of a key in a scope',
  'state::delete': 'Deletes a key of a scope',
  'state::update': 'Changes the value of a key by a list of operations, in one step',
  'state::list': 'Lists the values of a scope',
  'state::list_groups': 'Lists the scopes',
} as const;

const READS: ReadonlySet<string> = new Set(['state::get', 'state::list', 'state::list_groups']);

export function stateFunctions(store: Store, listeners: StateListeners): readonly RawBuiltinDefinition[] {
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    handleRaw(payload: Payload | undefined, { depth }: BuiltinCall, done: (outcome: Outcome) => void): void {
      const answer = (reply: StoreReply): void => {
        done(outcomeOfReply(reply));
        for (const event of reply.events ?? []) listeners.tell(event, depth);
      };
      const input = payload === undefined ? NO_INPUT : payload.asJsonBytes();
      if (input === undefined) throw unreadablePayload(`the payload for ${id}`);
      store.run(id, input, answer, !READS.has(id) && listeners.isListening);
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
