// Which functions receive the messages of which topic, and how long their workers may be away. The config of a trigger
// of the types `durable:subscriber` and `queue` says it, with the settings of the queue between topic and function.

import { fields, integer, oneOf, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import type { EnqueueRules } from '../../core/queue/shapes.ts';
import { BACKOFF_MS_MAX } from '../../core/queue/waits.ts';
import type { TriggerTypeSpec } from '../../core/registry/trigger-table.ts';
import { CALL_TIMEOUT_MS_MAX, idOffence } from '../../protocol/frames/limits.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import type { Binding } from '../../router/builtin.ts';
import { CONDITION_FIELD, readTriggerConfig } from '../trigger-config.ts';
import { QUEUE_DEFAULTS, type QueueSettings, settingsOf } from './config.ts';

export interface Subscription {
  readonly topic: string;
  readonly functionId: string;
  readonly bindings: Set<Binding>;
  rules: EnqueueRules;
  delayMs: number;
  /** The last trusted worker left and may reconnect, also while restricted connections are subscribed. */
  awaitsTrusted: boolean;
  /**
   * No trigger is bound: the subscription ends at this time of the monotonic clock unless one is bound again. `ENDED`:
   * it was removed.
   */
  endsMs: number | undefined;
}

/** A subscription that gets no copies any more, and exists only for the jobs left in its queue. */
export const ENDED = Number.NEGATIVE_INFINITY;

export class Subscriptions {
  readonly #byTopic = new Map<string, Map<string, Subscription>>();

  get all(): readonly Subscription[] {
    return [...this.#byTopic.values()].flatMap((byFunction) => [...byFunction.values()]);
  }

  /** Topics that have or had a subscriber, with the present number. */
  get counts(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#byTopic].map(([topic, byFunction]) => [
        topic,
        [...byFunction.values()].filter(({ bindings }) => bindings.size > 0).length,
      ]),
    );
  }

  of(topic: string): readonly Subscription[] {
    return [...(this.#byTopic.get(topic)?.values() ?? [])];
  }

  find(topic: string, functionId: string): Subscription | undefined {
    return this.#byTopic.get(topic)?.get(functionId);
  }

  /** Replaces an earlier one of that function. */
  put(subscription: Subscription): void {
    const { topic, functionId } = subscription;
    const byFunction = this.#byTopic.get(topic) ?? new Map<string, Subscription>();
    this.#byTopic.set(topic, byFunction);
    byFunction.set(functionId, subscription);
  }

  remove({ topic, functionId }: Subscription): void {
    const byFunction = this.#byTopic.get(topic);
    byFunction?.delete(functionId);
    if (byFunction?.size === 0) this.#byTopic.delete(topic);
  }
}

const queueConfig = fields({
  type: oneOf(['standard', 'fifo', 'concurrent'], { default: 'standard' }),
  maxRetries: integer({ default: 3, min: 0, max: 100 }),
  concurrency: integer({ default: 10, min: 1, max: 10_000 }),
  backoffDelayMs: integer({ default: 1_000, min: 0, max: BACKOFF_MS_MAX }),
  backoffType: oneOf(['exponential', 'fixed'], { default: 'exponential' }),
  delaySeconds: integer({ default: 0, min: 0, max: 86_400 }),
  visibilityTimeout: optional(integer({ min: 1, max: CALL_TIMEOUT_MS_MAX / 1_000 })),
  maxPriority: optional(integer({ min: 1, max: 255 })),
});

const config = fields({
  topic: optional(text()),
  queue: optional(text()),
  condition_function_id: CONDITION_FIELD,
  queue_config: optional(queueConfig),
});

export interface Subscriber {
  readonly topic: string;
  readonly delayMs: number;
  readonly queue: ValueOf<typeof queueConfig> | undefined;
}

export type ReadSubscriber =
  | { readonly ok: true; readonly config: Subscriber }
  | { readonly ok: false; readonly reason: string };

export function readSubscriber(type: string, given: unknown): ReadSubscriber {
  const read = readTriggerConfig(type, config, given);
  if (!read.ok) return read;
  const { topic: named, queue: older, queue_config: queue } = read.config;
  const topic = named !== undefined && older !== undefined ? undefined : (named ?? older);
  if (topic === undefined) {
    return {
      ok: false,
      reason: `The config of the ${type} trigger: topic is required, or queue in its place; not both`,
    };
  }
  const offence = idOffence(topic);
  if (offence !== undefined) return { ok: false, reason: `The config of the ${type} trigger: the topic ${offence}` };
  return { ok: true, config: { topic, delayMs: (queue?.delaySeconds ?? 0) * 1_000, queue } };
}

/** The settings of the queue between a topic and one function. */
export function topicSettings(name: string, subscriber: Subscriber | undefined, ttlMs: number): QueueSettings {
  const given = subscriber?.queue;
  const usual = settingsOf(name, { ...QUEUE_DEFAULTS, unroutable_ttl_ms: ttlMs });
  if (given === undefined) return usual;
  const isFifo = given.type === 'fifo';
  return {
    ...usual,
    isFifo,
    concurrency: given.concurrency,
    retry: {
      maxRetries: given.maxRetries,
      backoffMs: given.backoffDelayMs,
      isExponential: given.backoffType === 'exponential',
    },
    jobTimeoutMs: given.visibilityTimeout === undefined ? usual.jobTimeoutMs : given.visibilityTimeout * 1_000,
    rules: { ...usual.rules, ...(isFifo && { isOneGroup: true }) },
  };
}

/** The same for a queue that is of the other kind and has to stay so for now. */
export function asOtherKind(settings: QueueSettings): QueueSettings {
  const { isOneGroup: _group, ...rules } = settings.rules;
  if (settings.isFifo) return { ...settings, isFifo: false, rules };
  return { ...settings, isFifo: true, rules: { ...rules, isOneGroup: true } };
}

export function describeSubscriber(id: string): TriggerTypeSpec {
  return {
    description: `Receives a copy of each message of its topic${id === 'queue' ? ' (older name)' : ''}`,
    configFormat: rawJson({
      type: 'object',
      properties: {
        topic: { type: 'string' },
        condition_function_id: { type: 'string', description: 'Called first; on false the message is done' },
        queue_config: {
          type: 'object',
          properties: {
            type: { enum: ['standard', 'fifo'] },
            maxRetries: { type: 'integer' },
            concurrency: { type: 'integer' },
            backoffDelayMs: { type: 'integer' },
            backoffType: { enum: ['exponential', 'fixed'] },
            delaySeconds: { type: 'integer' },
            visibilityTimeout: { type: 'integer', description: 'Seconds after which an attempt has failed' },
          },
        },
      },
      required: ['topic'],
    }),
    payloadFormat: rawJson({ description: 'The published data, unchanged' }),
  };
}
