// The trigger type `state`: fires when an entry was written or deleted (S5).
//
// Bindings are indexed by their filters, so that an event checks only those that match. Events arrive in commit order;
// for one entry, each binding's handler is called in that order.

import { fields, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import { Groups } from '../../core/registry/groups.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding, Cause, ModuleTriggerType } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { StoreEvent } from '../../store/thread/contract.ts';
import type { ChangeJobs } from '../change-jobs.ts';
import { CONDITION_FIELD, readTriggerConfig } from '../trigger-config.ts';
import type { StateListeners } from './functions.ts';

const config = fields({
  scope: optional(text({ bytesMax: ID_BYTES_MAX })),
  key: optional(text({ bytesMax: ID_BYTES_MAX })),
  condition_function_id: CONDITION_FIELD,
  queue: optional(text({ bytesMax: ID_BYTES_MAX })),
});

const CONFIG_FORMAT = rawJson({
  type: 'object',
  properties: {
    scope: { type: 'string', description: 'Only entries of this scope' },
    key: { type: 'string', description: 'Only entries of this key' },
    condition_function_id: { type: 'string', description: 'Called first; on false the function is not called' },
    queue: { type: 'string', description: 'Each change becomes a job of this queue, written together with it' },
  },
  additionalProperties: false,
});

const PAYLOAD_FORMAT = rawJson({
  type: 'object',
  properties: {
    type: { const: 'state' },
    event_type: { enum: ['state:updated', 'state:deleted'] },
    scope: { type: 'string' },
    key: { type: 'string' },
    old_value: { description: 'null if there was none' },
    new_value: { description: 'null if it was deleted' },
    timestamp: { type: 'number', description: 'Unix milliseconds' },
    seq: { type: 'number', description: 'A later change of the entry has a greater number' },
  },
});

/** The fields by which a FIFO queue may group the events of a trigger: present in every event, and not objects. */
export const GROUP_FIELDS = ['key', 'scope', 'event_type'];

type Filter = Pick<ValueOf<typeof config>, 'scope' | 'key'>;

export class StateTriggers implements ModuleTriggerType, Omit<StateListeners, 'traceOf'> {
  readonly id = 'state';
  readonly spec = {
    description: 'Fires when an entry of the state is written or deleted',
    configFormat: CONFIG_FORMAT,
    payloadFormat: PAYLOAD_FORMAT,
  };
  readonly #router: Pick<RouterPort, 'fire'>;
  readonly #isEnabled: boolean;
  readonly #jobs: ChangeJobs;
  readonly #listeningChanged: () => void;
  readonly #filters = new Map<Binding, Filter>();
  readonly #byEntry = new Groups<string, Binding>();
  readonly #byScope = new Groups<string, Binding>();
  readonly #byKey = new Groups<string, Binding>();
  readonly #ofAll = new Set<Binding>();

  /** `isEnabled` false: triggers are accepted and never fire, for example during a bulk load. */
  constructor(router: Pick<RouterPort, 'fire'>, jobs: ChangeJobs, isEnabled: boolean, listeningChanged: () => void) {
    this.#router = router;
    this.#jobs = jobs;
    this.#isEnabled = isEnabled;
    this.#listeningChanged = listeningChanged;
  }

  get isListening(): boolean {
    return this.#isEnabled && this.#filters.size > 0;
  }

  refuse(given: unknown, binding: Binding): string | undefined {
    const read = readTriggerConfig(this.id, config, given);
    if (!read.ok) return read.reason;
    const { queue } = read.config;
    return queue === undefined ? undefined : this.#jobs.refuse(queue, binding);
  }

  bound(binding: Binding, given: unknown): void {
    const read = readTriggerConfig(this.id, config, given);
    if (!read.ok) throw new Error(`A refused config was bound: ${read.reason}`);
    this.#filters.set(binding, read.config);
    this.#listeningChanged();
    this.#groupOf(read.config).add(binding);
    const { scope, key, queue } = read.config;
    if (queue !== undefined && this.#isEnabled) this.#jobs.bound(binding, { queue, where: [scope, key] });
  }

  unbound(binding: Binding): void {
    const filter = this.#filters.get(binding);
    if (filter === undefined) return;
    this.#filters.delete(binding);
    this.#groupOf(filter).remove(binding);
    this.#jobs.unbound(binding);
    this.#listeningChanged();
  }

  /** `cause`: the call that changed the entry. */
  changed({ path: [scope = '', key = ''], body }: StoreEvent, cause: Cause): void {
    if (!this.isListening) return;
    const entry = entryOf(scope, key);
    const bindings = [...this.#ofAll, ...this.#byScope.of(scope), ...this.#byKey.of(key), ...this.#byEntry.of(entry)];
    if (bindings.length === 0) return;
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const called = this.#jobs.divert(bindings);
    if (called.length === 0) return;
    this.#router.fire(called, Payload.ofBytes(bytes, 0, bytes.length), cause, entry);
  }

  #groupOf({ scope, key }: Filter): { add(binding: Binding): void; remove(binding: Binding): void } {
    if (scope !== undefined && key !== undefined) return groupIn(this.#byEntry, entryOf(scope, key));
    if (scope !== undefined) return groupIn(this.#byScope, scope);
    if (key !== undefined) return groupIn(this.#byKey, key);
    return { add: (binding) => this.#ofAll.add(binding), remove: (binding) => this.#ofAll.delete(binding) };
  }
}

function groupIn(groups: Groups<string, Binding>, name: string) {
  return {
    add: (binding: Binding) => groups.add(name, binding),
    remove: (binding: Binding) => groups.remove(name, binding),
  };
}

/** One text for scope and key, whatever characters they contain. */
function entryOf(scope: string, key: string): string {
  return `${scope.length} ${scope}${key}`;
}
