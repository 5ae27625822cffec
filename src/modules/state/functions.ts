// The functions of state: the payload goes to the store as it came, and the store returns the answer in its final form.

import type { Payload } from '../../protocol/payload/payload.ts';
import type { BuiltinCall, Cause, RawBuiltinDefinition } from '../../router/builtin.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RunOptions, Store, StoreEvent, StoreReply } from '../../store/thread/contract.ts';
import { noteSubject, outcomeOfReply, storeInput } from '../raw-payload.ts';
import { STATE_FORMATS } from './formats.ts';

export interface StateListeners {
  /** Whether changes have a listener: read before each change. */
  readonly isListening: boolean;
  /** For the store, if a change may create jobs. */
  traceOf(cause: Cause): string | undefined;
  /** A change happened and is durable; called in the order of the changes (S5). */
  changed(event: StoreEvent, cause: Cause): void;
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

/** A change has no listener on this router. */
export const NOT_HEARD: StateListeners = { isListening: false, traceOf: () => undefined, changed: () => {} };

const QUIET: RunOptions = { wantsEvents: false };

export function stateFunctions(store: Pick<Store, 'run'>, listeners: StateListeners): readonly RawBuiltinDefinition[] {
  return Object.entries(DESCRIPTIONS).map(([id, description]) => ({
    id,
    description,
    ...STATE_FORMATS[id],
    handleRaw(payload: Payload | undefined, call: BuiltinCall, done: (outcome: Outcome) => void): void {
      const answer = (reply: StoreReply): void => {
        done(outcomeOfReply(reply));
        for (const event of reply.events ?? []) listeners.changed(event, call);
      };
      const input = storeInput(id, payload);
      noteSubject(call, 'svc.state.scope', input, 'scope');
      if (!READS.has(id)) noteSubject(call, 'svc.state.key', input, 'key');
      if (READS.has(id)) store.run(id, input, answer, QUIET);
      else store.run(id, input, answer, { wantsEvents: listeners.isListening, trace: listeners.traceOf(call) });
    },
  }));
}
