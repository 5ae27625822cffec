// The trigger types of streams: their configs, and which bindings match an event.
//
// Bindings are indexed by the stream they name, with their filters parsed: an event checks only those.

import { fields, flag, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import type { Binding, ModuleTriggerType } from '../../router/builtin.ts';
import type { StoreEvent } from '../../store/thread/contract.ts';
import type { ChangeJobs } from '../change-jobs.ts';
import { CONDITION_FIELD, readTriggerConfig } from '../trigger-config.ts';

/** An empty name counts as absent. */
const name = () => optional(text({ bytesMin: 0, bytesMax: ID_BYTES_MAX }));

const streamConfig = fields({
  stream_name: text({ bytesMax: ID_BYTES_MAX }),
  group_id: name(),
  item_id: name(),
  include_events: flag({ default: false }),
  condition_function_id: CONDITION_FIELD,
  queue: optional(text({ bytesMax: ID_BYTES_MAX })),
});

const joinLeaveConfig = fields({ stream_name: name(), condition_function_id: CONDITION_FIELD });

const CONDITION = { type: 'string', description: 'Called first; on false the function is not called' };

const STREAM_CONFIG_FORMAT = rawJson({
  type: 'object',
  properties: {
    stream_name: { type: 'string', description: 'The stream' },
    group_id: { type: 'string', description: 'Only this group' },
    item_id: { type: 'string', description: 'Only this item' },
    include_events: { type: 'boolean', description: 'Custom events of stream::send too' },
    condition_function_id: CONDITION,
    queue: { type: 'string', description: 'Each event becomes a job of this queue, written together with it' },
  },
  required: ['stream_name'],
  additionalProperties: false,
});

const JOIN_LEAVE_CONFIG_FORMAT = rawJson({
  type: 'object',
  properties: {
    stream_name: { type: 'string', description: 'Only this stream' },
    condition_function_id: CONDITION,
  },
  additionalProperties: false,
});

type StreamFilter = Pick<ValueOf<typeof streamConfig>, 'group_id' | 'item_id' | 'include_events'>;

const ANY_STREAM = '';
const NONE: readonly Binding[] = [];
/** The fields by which a FIFO queue may group the events of a trigger: present in every event. */
export const GROUP_FIELDS = ['groupId', 'streamName'];

/** Bindings of one type, by their stream. */
class Bindings<F> {
  readonly #byStream = new Map<string, Map<Binding, F>>();
  readonly #streamOf = new Map<Binding, string>();

  add(binding: Binding, stream: string, filter: F): void {
    const bindings = this.#byStream.get(stream) ?? new Map<Binding, F>();
    this.#byStream.set(stream, bindings.set(binding, filter));
    this.#streamOf.set(binding, stream);
  }

  remove(binding: Binding): void {
    const stream = this.#streamOf.get(binding);
    if (stream === undefined) return;
    this.#streamOf.delete(binding);
    const bindings = this.#byStream.get(stream);
    bindings?.delete(binding);
    if (bindings?.size === 0) this.#byStream.delete(stream);
  }

  of(stream: string): ReadonlyMap<Binding, F> | undefined {
    return this.#byStream.get(stream);
  }
}

/** Type `stream`: an item changed. */
export class StreamTriggers implements ModuleTriggerType {
  readonly id = 'stream';
  readonly spec = {
    description: 'An item of a stream was created, updated or deleted.',
    configFormat: STREAM_CONFIG_FORMAT,
    payloadFormat: undefined,
  };
  readonly #bindings = new Bindings<StreamFilter>();
  /** In drop-in mode custom events reach every binding (PD-56). */
  readonly #isDropIn: boolean;
  readonly #jobs: ChangeJobs;
  readonly #follow: ((stream: string) => () => void) | undefined;
  readonly #following = new Map<Binding, () => void>();

  /** `follow`: makes the store report changes of a stream that were not made here; returns a function that ends it. */
  constructor(jobs: ChangeJobs, isDropIn: boolean, follow?: (stream: string) => () => void) {
    this.#jobs = jobs;
    this.#isDropIn = isDropIn;
    this.#follow = follow;
  }

  refuse(config: unknown, binding: Binding): string | undefined {
    const read = readTriggerConfig('stream', streamConfig, config);
    if (!read.ok) return read.reason;
    const { queue } = read.config;
    return queue === undefined ? undefined : this.#jobs.refuse(queue, binding);
  }

  bound(binding: Binding, config: unknown): void {
    const read = readTriggerConfig('stream', streamConfig, config);
    if (!read.ok) return;
    const { stream_name: stream, group_id: group, item_id: item, include_events: withCustom, queue } = read.config;
    this.#bindings.add(binding, stream, read.config);
    if (this.#follow !== undefined) this.#following.set(binding, this.#follow(stream));
    if (queue === undefined) return;
    const exceptKind = withCustom || this.#isDropIn ? undefined : 'event';
    this.#jobs.bound(binding, { queue, where: [stream, group || undefined, item || undefined], exceptKind });
  }

  unbound(binding: Binding): void {
    this.#bindings.remove(binding);
    this.#following.get(binding)?.();
    this.#following.delete(binding);
    this.#jobs.unbound(binding);
  }

  /** The bindings whose functions are called now. Those that name a queue have their jobs already. */
  toCall(event: StoreEvent): readonly Binding[] {
    return this.#jobs.divert(this.#matching(event));
  }

  #matching({ path: [stream = '', group, item], kind }: StoreEvent): readonly Binding[] {
    const candidates = this.#bindings.of(stream);
    if (candidates === undefined) return NONE;
    const isCustom = kind === 'event';
    const matching: Binding[] = [];
    for (const [binding, filter] of candidates) {
      // Absent or empty: any.
      if (filter.group_id && filter.group_id !== group) continue;
      if (filter.item_id && filter.item_id !== item) continue;
      if (!isCustom || this.#isDropIn || filter.include_events) matching.push(binding);
    }
    return matching;
  }
}

/** Types `stream:join` and `stream:leave`: a client subscribes, and a subscription ends. */
export class JoinLeaveTriggers implements ModuleTriggerType {
  readonly id: 'stream:join' | 'stream:leave';
  readonly spec;
  readonly #bindings = new Bindings<undefined>();

  constructor(id: 'stream:join' | 'stream:leave', description: string) {
    this.id = id;
    this.spec = { description, configFormat: JOIN_LEAVE_CONFIG_FORMAT, payloadFormat: undefined };
  }

  refuse(config: unknown): string | undefined {
    const read = readTriggerConfig(this.id, joinLeaveConfig, config);
    return read.ok ? undefined : read.reason;
  }

  bound(binding: Binding, config: unknown): void {
    const read = readTriggerConfig(this.id, joinLeaveConfig, config);
    if (read.ok) this.#bindings.add(binding, read.config.stream_name ?? ANY_STREAM, undefined);
  }

  unbound(binding: Binding): void {
    this.#bindings.remove(binding);
  }

  matching(stream: string): Binding[] {
    return [ANY_STREAM, stream].flatMap((name) => [...(this.#bindings.of(name)?.keys() ?? [])]);
  }
}
