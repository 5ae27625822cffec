// Topic queues: what is published goes to every subscribed function, each through a queue of its own.
//
// A subscription is kept on disk: it goes on getting copies while its worker is away, for as long as a job would wait
// for it. One that its owner takes back ends at once; what its queue still holds is delivered.

import type { EnqueueRules } from '../../core/queue/shapes.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Binding, ModuleTriggerType } from '../../router/builtin.ts';
import type { PublishTarget } from './adapters/adapter.ts';
import { QUEUE_DEFAULTS, settingsOf } from './config.ts';
import { type Queues, topicQueue } from './queues.ts';
import type { QueueRunner, RunnerParts } from './runner.ts';
import { readSubscriber, type Subscriber, subscriberFacts, topicSettings } from './subscriber.ts';

interface TopicsParts extends RunnerParts {
  readonly queues: Queues;
}

interface Subscription {
  readonly topic: string;
  readonly functionId: string;
  readonly bindings: Set<Binding>;
  rules: EnqueueRules;
  delayMs: number;
  /** Since when nobody is bound. */
  leftMs: number | undefined;
}

export class Topics {
  readonly triggerTypes: readonly ModuleTriggerType[];
  readonly #parts: TopicsParts;
  readonly #ttlMs: number;
  readonly #byTopic = new Map<string, Map<string, Subscription>>();
  readonly #byBinding = new Map<Binding, Subscription>();
  #isStopped = false;

  constructor(parts: TopicsParts, ttlMs: number) {
    this.#parts = parts;
    this.#ttlMs = ttlMs;
    this.triggerTypes = ['durable:subscriber', 'queue'].map((id) => ({
      id,
      facts: subscriberFacts(id),
      refuse(config: unknown) {
        const read = readSubscriber(id, config);
        return read.ok ? undefined : read.reason;
      },
      bound: (binding: Binding, config: unknown) => {
        const read = readSubscriber(id, config);
        if (!read.ok) throw new Error(`A refused config was bound: ${read.reason}`);
        this.#bind(binding, read.config);
      },
      unbound: (binding: Binding) => this.#unbind(binding),
    }));
  }

  /** Topics that have or had a subscriber, with how many there are now. */
  get subscribers(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#byTopic].map(([topic, byFunction]) => [
        topic,
        [...byFunction.values()].filter(({ bindings }) => bindings.size > 0).length,
      ]),
    );
  }

  /** The queues behind a topic: one for each function, and the one of what nobody has subscribed to. */
  queuesOf(topic: string): string[] {
    const functions = [...(this.#byTopic.get(topic)?.keys() ?? [])];
    return ['', ...functions].map((functionId) => topicQueue(topic, functionId));
  }

  async start(): Promise<void> {
    const { adapter, clock, queues } = this.#parts;
    for (const { topic, functionId, leftMs = clock.nowMs() } of await adapter.subscriptions()) {
      if (this.#has(topic, functionId)) continue;
      if (leftMs < clock.nowMs() - this.#ttlMs) await adapter.unsubscribe(topic, functionId);
      else this.#add(topic, functionId, undefined, leftMs);
    }
    // What was kept has to expire, whether or not somebody publishes again.
    for (const { queue, parked } of await adapter.stats()) {
      if (queue.endsWith('\n') && parked > 0 && queues.find(queue) === undefined) this.#keeper(queue);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Durable when it resolves. Rejects with a `Refusal`. */
  async publish(topic: string, data: Uint8Array): Promise<void> {
    const { adapter, clock, queues, router } = this.#parts;
    if (router.isDraining) throw new Refusal('SHUTTING_DOWN', 'The engine is shutting down and takes no new messages');
    const known = [...(this.#byTopic.get(topic)?.values() ?? [])];
    const listening = known.filter(({ leftMs }) => leftMs === undefined || leftMs > clock.nowMs() - this.#ttlMs);
    const targets = listening.map(
      ({ functionId, rules, delayMs }): PublishTarget => ({
        queue: topicQueue(topic, functionId),
        rules,
        functionId,
        delayMs,
        isKept: false,
      }),
    );
    if (targets.length > 0) await adapter.publish(targets, data);
    else await adapter.publish([this.#keptTarget(topic)], data);
    for (const { queue } of targets) queues.find(queue)?.nudge();
    if (targets.length === 0) this.#keeper(topicQueue(topic, '')).nudge();
  }

  #keptTarget(topic: string): PublishTarget {
    const rules = { ...settingsOf('', QUEUE_DEFAULTS).rules, unroutableTtlMs: this.#ttlMs };
    return { queue: topicQueue(topic, ''), rules, functionId: 'no_subscriber', delayMs: 0, isKept: true };
  }

  /** Nothing in it is ever handed over: its runner only lets it expire. */
  #keeper(queue: string): QueueRunner {
    const known = this.#parts.queues.find(queue);
    if (known !== undefined) return known;
    const runner = this.#parts.queues.add(settingsOf(queue, QUEUE_DEFAULTS));
    runner.nudge();
    return runner;
  }

  #has(topic: string, functionId: string): boolean {
    return this.#byTopic.get(topic)?.has(functionId) ?? false;
  }

  #add(topic: string, functionId: string, config: Subscriber | undefined, leftMs: number | undefined): Subscription {
    const settings = topicSettings(topicQueue(topic, functionId), config, this.#ttlMs);
    const subscription: Subscription = {
      topic,
      functionId,
      bindings: new Set(),
      rules: settings.rules,
      delayMs: config?.delayMs ?? 0,
      leftMs,
    };
    const byFunction = this.#byTopic.get(topic) ?? new Map<string, Subscription>();
    this.#byTopic.set(topic, byFunction);
    byFunction.set(functionId, subscription);
    return subscription;
  }

  #bind(binding: Binding, config: Subscriber): void {
    const { topic } = config;
    const { functionId } = binding;
    const known = this.#byTopic.get(topic)?.get(functionId);
    const isNew = known === undefined || known.bindings.size === 0;
    const subscription = isNew ? this.#add(topic, functionId, config, undefined) : known;
    subscription.bindings.add(binding);
    this.#byBinding.set(binding, subscription);
    if (isNew) this.#open(subscription, binding, config);
  }

  #open({ topic, functionId, rules }: Subscription, binding: Binding, config: Subscriber): void {
    const { adapter, queues, logger } = this.#parts;
    const queue = topicQueue(topic, functionId);
    const before = queues.find(queue);
    const settings = topicSettings(queue, config, this.#ttlMs);
    before?.configure(settings);
    const runner = before ?? queues.add(settings);
    const { id, type, conditionFunctionId } = binding;
    runner.origin = { id, type, conditionFunctionId };
    // In this very turn and order: whatever is published from now on comes behind what was kept.
    const steps = [
      adapter.subscribe({ topic, functionId }),
      before === undefined ? adapter.open(queue, { isFifo: settings.isFifo }) : undefined,
      adapter.handKeptTo(topicQueue(topic, ''), queue, functionId, rules),
    ] as const;
    Promise.all(steps).then(
      ([, opened]) => {
        if (opened?.isRefused === true) {
          binding.error = `The type of the queue of '${topic}' cannot change before it is empty`;
          logger.error(binding.error, { function_id: functionId });
        }
        runner.noteParked([functionId]);
        runner.nudge();
      },
      (error: unknown) => {
        binding.error = String(error);
        logger.error('A subscription could not be kept', { topic, function_id: functionId, error: String(error) });
      },
    );
  }

  #unbind(binding: Binding): void {
    const { adapter, clock, router, logger } = this.#parts;
    const subscription = this.#byBinding.get(binding);
    if (subscription === undefined) return;
    this.#byBinding.delete(binding);
    subscription.bindings.delete(binding);
    if (subscription.bindings.size > 0 || this.#isStopped) return;
    const { topic, functionId } = subscription;
    // A connection that ended, or an engine that does: the subscriber may come back.
    const mayReturn = binding.owner?.state === 'closed' || router.isDraining;
    subscription.leftMs = clock.nowMs();
    const kept = mayReturn
      ? adapter.subscribe({ topic, functionId, leftMs: subscription.leftMs })
      : adapter.unsubscribe(topic, functionId);
    if (!mayReturn) this.#byTopic.get(topic)?.delete(functionId);
    kept.catch((error: unknown) => logger.error('The end of a subscription was not kept', { error: String(error) }));
  }
}
