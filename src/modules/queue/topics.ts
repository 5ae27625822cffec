// Topic queues: a published message goes to every subscribed function, each through a queue of its own.
//
// A subscription is kept on disk: it gets copies while its worker is away, for as long as a job would wait for it. One
// that its owner removes ends at once; the jobs left in its queue are delivered.
// Invariants:
//   - A queue of a topic has a runner while a function is subscribed through it, or while it holds anything, including
//     dead letters. Then it is removed, with the subscription that has ended (`#sweep`).
//   - A subscription is opened within the turn that binds it: later messages come after those that were kept.

import { coversId } from '../../core/access/access.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { isTopicQueue, topicQueue } from '../../core/queue/queue-names.ts';
import type { SubscriptionMark } from '../../core/queue/records.ts';
import type { QueueStats } from '../../core/queue/shapes.ts';
import type { Binding, Cause, ModuleTriggerType, Removal } from '../../router/builtin.ts';
import type { PublishTarget, QueueAdapter } from './adapters/adapter.ts';
import { QUEUE_DEFAULTS, type QueueSettings, settingsOf } from './config.ts';
import type { Queues } from './queues.ts';
import type { QueueRunner, RunnerParts } from './runner.ts';
import { asOtherKind, readSubscriber, type Subscriber, subscriberFacts, topicSettings } from './subscriber.ts';
import { ENDED, type Subscription, Subscriptions } from './subscriptions.ts';

interface TopicsParts extends RunnerParts {
  readonly adapter: QueueAdapter;
  readonly queues: Queues;
}

const SWEEP_MS_MAX = 60_000;
const OPEN_AGAIN_MS = 1_000;
/** Subscriptions of restricted connections that wait for those to come back. */
const AWAY_PER_TOPIC_MAX = 100;
const AWAY_MAX = 1_000;

export class Topics {
  readonly triggerTypes: readonly ModuleTriggerType[];
  readonly #parts: TopicsParts;
  readonly #ttlMs: number;
  readonly #subscriptions = new Subscriptions();
  readonly #byBinding = new Map<Binding, Subscription>();
  /** Oldest first. */
  readonly #awayRestricted = new Set<Subscription>();
  #isStopped = false;
  #cancelSweeps: (() => void) | undefined;

  constructor(parts: TopicsParts, ttlMs: number) {
    this.#parts = parts;
    this.#ttlMs = ttlMs;
    this.triggerTypes = ['durable:subscriber', 'queue'].map((id) => ({
      id,
      facts: subscriberFacts(id),
      refuse: (config: unknown, binding: Binding) => {
        const read = readSubscriber(id, config);
        return read.ok ? this.#subscriptionOffence(read.config, binding) : read.reason;
      },
      bound: (binding: Binding, config: unknown) => {
        const read = readSubscriber(id, config);
        if (!read.ok) throw new Error(`A refused config was bound: ${read.reason}`);
        this.#bind(binding, read.config);
      },
      unbound: (binding: Binding, removal: Removal) => this.#unbind(binding, removal),
    }));
  }

  /** Topics that have or had a subscriber, with the present number. */
  get subscribers(): ReadonlyMap<string, number> {
    return this.#subscriptions.counts;
  }

  /** The queues of a topic: one for each function, and the one for messages without a subscriber. */
  queuesOf(topic: string): string[] {
    const functions = this.#subscriptions.of(topic).map(({ functionId }) => functionId);
    return ['', ...functions].map((functionId) => topicQueue(topic, functionId));
  }

  async start(): Promise<void> {
    const { adapter, clock, queues, router } = this.#parts;
    for (const { topic, functionId, leftMs, isTrusted } of await adapter.subscriptions()) {
      if (isTrusted === true) router.reserve('subscription', nameOf(topic, functionId));
      if (this.#subscriptions.find(topic, functionId) !== undefined) continue;
      const sinceMs = leftMs ?? clock.nowMs();
      // The last engine was killed. The time is kept, or each such start would restart the wait.
      if (leftMs === undefined) await adapter.subscribe({ ...this.#markOf(topic, functionId), leftMs: sinceMs });
      const awayMs = Math.max(0, clock.nowMs() - sinceMs);
      if (awayMs > this.#ttlMs) await adapter.unsubscribe(topic, functionId);
      else this.#hold(topic, functionId, clock.monotonicMs() + this.#ttlMs - awayMs);
    }
    // Existing messages must expire, and be listed, whether or not a client publishes or subscribes again.
    for (const stats of await adapter.stats()) {
      const { queue } = stats;
      if (!isTopicQueue(queue) || queues.find(queue) !== undefined) continue;
      if (isEmpty(stats)) {
        this.#forget(queue);
        continue;
      }
      const [topic = '', functionId = ''] = queue.split('\n');
      if (functionId === '') this.#keeper(queue);
      else this.#hold(topic, functionId, ENDED);
    }
    this.#cancelSweeps = clock.every(Math.min(SWEEP_MS_MAX, this.#ttlMs), () => void this.#sweep());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelSweeps?.();
  }

  /** Durable when it resolves. Rejects with a `Refusal`. */
  async publish(topic: string, data: Uint8Array, { traceparent, baggage }: Omit<Cause, 'depth'>): Promise<void> {
    const { adapter, clock, queues, router } = this.#parts;
    if (router.isDraining) throw new Refusal('SHUTTING_DOWN', 'The engine is shutting down and takes no new messages');
    const known = this.#subscriptions.of(topic);
    const listening = known.filter(({ endsMs }) => endsMs === undefined || endsMs > clock.monotonicMs());
    const targets = listening.map(
      ({ functionId, rules, delayMs }): PublishTarget => ({
        queue: topicQueue(topic, functionId),
        rules,
        functionId,
        delayMs,
        isKept: false,
        traceparent,
        baggage,
      }),
    );
    if (targets.length > 0) await adapter.publish(targets, data);
    else await adapter.publish([{ ...this.#keptTarget(topic), traceparent, baggage }], data);
    for (const { queue } of targets) {
      queues.find(queue)?.noteEnqueued();
      queues.find(queue)?.nudge();
    }
    if (targets.length === 0) this.#keeper(topicQueue(topic, '')).nudge();
  }

  #keptTarget(topic: string): PublishTarget {
    const rules = { ...settingsOf('', QUEUE_DEFAULTS).rules, unroutableTtlMs: this.#ttlMs };
    return { queue: topicQueue(topic, ''), rules, functionId: 'no_subscriber', delayMs: 0, isKept: true };
  }

  /** A subscriber of an earlier run: until it is back, its copies only wait or expire. */
  #hold(topic: string, functionId: string, endsMs: number): void {
    const settings = topicSettings(topicQueue(topic, functionId), undefined, this.#ttlMs);
    this.#add(topic, functionId, { rules: settings.rules, delayMs: 0, endsMs });
    const runner = this.#parts.queues.add(settings);
    runner.isHeld = true;
    runner.nudge();
  }

  /** Jobs of this queue are never handed over: its runner only lets them expire. */
  #keeper(queue: string): QueueRunner {
    const known = this.#parts.queues.find(queue);
    if (known !== undefined) return known;
    const runner = this.#parts.queues.add(settingsOf(queue, QUEUE_DEFAULTS));
    runner.nudge();
    return runner;
  }

  #add(topic: string, functionId: string, facts: Pick<Subscription, 'rules' | 'delayMs' | 'endsMs'>): Subscription {
    const subscription = { topic, functionId, bindings: new Set<Binding>(), ...facts };
    this.#subscriptions.put(subscription);
    return subscription;
  }

  #isReserved(topic: string, functionId: string): boolean {
    return this.#parts.router.reservations.has('subscription', nameOf(topic, functionId));
  }

  /** As the adapter keeps it. */
  #markOf(topic: string, functionId: string): SubscriptionMark {
    return { topic, functionId, ...(this.#isReserved(topic, functionId) && { isTrusted: true }) };
  }

  /** Messages kept for a trusted subscriber are not handed to a restricted one that subscribes the same function. */
  #subscriptionOffence({ topic }: Subscriber, { owner, functionId }: Binding): string | undefined {
    if (owner?.access === undefined) return undefined;
    if (!this.#isReserved(topic, functionId)) return undefined;
    return `The subscription of '${functionId}' to '${topic}' belongs to a trusted worker`;
  }

  #bind(binding: Binding, config: Subscriber): void {
    const { topic, delayMs } = config;
    const { functionId, owner } = binding;
    if (owner?.access === undefined) this.#parts.router.reserve('subscription', nameOf(topic, functionId));
    const known = this.#subscriptions.find(topic, functionId);
    const isNew = known === undefined || known.bindings.size === 0;
    // Of several the first says how it is delivered, but no stranger to a trusted one.
    const takesOver = !isNew && owner?.access === undefined && [...known.bindings].every(isOfStranger);
    const settings = topicSettings(topicQueue(topic, functionId), config, this.#ttlMs);
    const subscription = isNew
      ? this.#add(topic, functionId, { rules: settings.rules, delayMs, endsMs: undefined })
      : known;
    if (takesOver) Object.assign(subscription, { rules: settings.rules, delayMs });
    subscription.bindings.add(binding);
    if (known !== undefined) this.#awayRestricted.delete(known);
    this.#byBinding.set(binding, subscription);
    if (isNew || takesOver) this.#open(subscription, binding, settings);
    this.#chooseOrigin(subscription);
  }

  /** The trigger on whose behalf its jobs run: of several, one with all rights; of none, the last one. */
  #chooseOrigin({ topic, functionId, bindings }: Subscription): void {
    const all = [...bindings];
    const trusted = all.find(({ owner }) => owner?.access === undefined);
    // Messages kept for a trusted subscriber run on its behalf while it is away, even if restricted ones subscribed.
    const origin = trusted ?? (this.#isReserved(topic, functionId) ? undefined : all[0]);
    const runner = this.#parts.queues.find(topicQueue(topic, functionId));
    if (runner !== undefined && origin !== undefined) runner.origin = origin;
  }

  #open(subscription: Subscription, binding: Binding, settings: QueueSettings): void {
    const { adapter, clock, queues, logger } = this.#parts;
    const { topic, functionId, rules } = subscription;
    const { name } = settings;
    const before = queues.find(name);
    const isOpen = before !== undefined && !before.isHeld;
    const runner = before ?? queues.add(settings);
    // Opens the subscription within the turn that binds it.
    const steps = [
      adapter.subscribe(this.#markOf(topic, functionId)),
      this.#openQueue(settings, before),
      mayHaveKept(binding) ? adapter.handKeptTo(topicQueue(topic, ''), name, functionId, rules) : undefined,
    ] as const;
    Promise.all(steps).then(
      ([, opened]) => {
        binding.error = undefined;
        if (opened.isFifo !== settings.isFifo) {
          const kind = opened.isFifo ? 'fifo' : 'standard';
          binding.error = `The type of the queue of '${topic}' cannot change until it is empty: it stays ${kind}`;
          logger.error(binding.error, { function_id: functionId });
        }
        subscription.rules = opened.rules;
        runner.isHeld = false;
        runner.configure(opened);
        runner.noteParked([functionId]);
      },
      (error: unknown) => {
        // Until then jobs wait, and the next attempt does not find an open queue.
        if (!isOpen) runner.isHeld = true;
        const isNews = binding.error === undefined;
        binding.error = String(error);
        const facts = { topic, function_id: functionId, error: binding.error };
        if (isNews) logger.error('A subscription could not be kept', facts);
        // A broker that is away comes back, and a disk has room again (K3, D4).
        if (error instanceof Refusal)
          clock.after(OPEN_AGAIN_MS, () => this.#openAgain(subscription, binding, settings));
      },
    );
  }

  #openAgain(subscription: Subscription, binding: Binding, settings: QueueSettings): void {
    const [next] = subscription.bindings;
    if (this.#isStopped || next === undefined) return;
    // The trigger that it was opened for may have been removed while equal ones remain.
    if (next !== binding) next.error = binding.error;
    this.#open(subscription, next, settings);
  }

  /** The settings it opened with: those of its other kind if it is not empty and cannot change. */
  async #openQueue(settings: QueueSettings, before: QueueRunner | undefined): Promise<QueueSettings> {
    const { adapter } = this.#parts;
    const isOpen = before !== undefined && !before.isHeld;
    if (isOpen && before.settings.isFifo === settings.isFifo) return settings;
    const asItIs = asOtherKind(settings);
    // Its running jobs must not be taken for jobs of the last run of the engine.
    if (isOpen && !before.isQuiet) return asItIs;
    const opened = await adapter.open(settings.name, settings);
    if (!opened.isRefused) return settings;
    if (!isOpen) await adapter.open(settings.name, asItIs);
    return asItIs;
  }

  #unbind(binding: Binding, removal: Removal): void {
    const { adapter, clock, router } = this.#parts;
    const subscription = this.#byBinding.get(binding);
    if (subscription === undefined) return;
    this.#byBinding.delete(binding);
    subscription.bindings.delete(binding);
    this.#chooseOrigin(subscription);
    if (subscription.bindings.size > 0 || this.#isStopped) return;
    const { topic, functionId } = subscription;
    // A connection that ended or is about to, or an engine that does: the subscriber may come back.
    if (removal === 'taken_back' && !router.isDraining) return this.#end(subscription);
    subscription.endsMs = clock.monotonicMs() + this.#ttlMs;
    if (binding.owner?.access === undefined) this.#parts.router.reserve('subscription', nameOf(topic, functionId));
    else this.#awayRestricted.add(subscription);
    adapter.subscribe({ ...this.#markOf(topic, functionId), leftMs: clock.nowMs() }).catch(this.#notKept);
    this.#limitAway(topic);
  }

  /** Every subscription makes a job of each message: those that restricted connections leave are bounded. */
  #limitAway(topic: string): void {
    const { logger, router } = this.#parts;
    const ofTopic = [...this.#awayRestricted].filter((one) => one.topic === topic);
    const isOver = ofTopic.length > AWAY_PER_TOPIC_MAX || this.#awayRestricted.size > AWAY_MAX;
    const [oldest] = ofTopic.length > AWAY_PER_TOPIC_MAX ? ofTopic : this.#awayRestricted;
    if (!isOver || oldest === undefined) return;
    this.#awayRestricted.delete(oldest);
    router.count('topics.away_ended');
    logger.warn('A subscription of a restricted connection that left is ended: too many of them wait', {
      topic: oldest.topic,
      function_id: oldest.functionId,
      limit_per_topic: AWAY_PER_TOPIC_MAX,
      limit: AWAY_MAX,
    });
    this.#end(oldest);
  }

  /** It gets no copies any more; it is removed when its queue is empty. */
  #end(subscription: Subscription): void {
    const { topic, functionId } = subscription;
    subscription.endsMs = ENDED;
    this.#awayRestricted.delete(subscription);
    this.#parts.adapter.unsubscribe(topic, functionId).catch(this.#notKept);
  }

  readonly #notKept = (error: unknown): void => {
    this.#parts.logger.error('The end of a subscription was not kept', { error: String(error) });
  };

  /** In one turn: a caller that opens it again comes after this. */
  #forget(queue: string): boolean {
    const { adapter, logger, queues } = this.#parts;
    if (!queues.forget(queue)) return false;
    adapter.forget?.(queue).catch((error: unknown) => {
      logger.warn('A queue of a topic could not be removed', { error: String(error) });
    });
    return true;
  }

  /** Some subscribers did not come back; others ended a while ago, and their queues may be empty now. */
  async #sweep(): Promise<void> {
    const { adapter, clock, queues } = this.#parts;
    const ended = this.#subscriptions.all.filter(({ endsMs }) => endsMs === ENDED);
    const keepers = queues.all.map(({ settings }) => settings.name).filter((name) => name.endsWith('\n'));
    for (const subscription of this.#subscriptions.all) {
      const { endsMs } = subscription;
      if (endsMs !== undefined && endsMs !== ENDED && endsMs <= clock.monotonicMs()) this.#end(subscription);
    }
    if (ended.length + keepers.length === 0) return;
    // A broker that is away cannot answer.
    const held = await adapter.stats().catch(() => undefined);
    if (held === undefined || this.#isStopped) return;
    const notEmpty = new Set(held.filter((stats) => !isEmpty(stats)).map(({ queue }) => queue));
    for (const name of keepers) if (!notEmpty.has(name)) this.#forget(name);
    for (const subscription of ended) {
      const { topic, functionId } = subscription;
      const name = topicQueue(topic, functionId);
      const isStill = this.#subscriptions.find(topic, functionId) === subscription;
      if (isStill && !notEmpty.has(name) && this.#forget(name)) this.#subscriptions.remove(subscription);
    }
  }
}

/** What nobody had subscribed to waits for a trusted subscriber: whoever is handed it is the only one who gets it. */
function mayHaveKept({ owner, functionId }: Binding): boolean {
  return owner?.access === undefined || coversId(owner.access, functionId);
}

function isOfStranger({ owner }: Binding): boolean {
  return owner?.access !== undefined;
}

/** The reserved name of a subscription: topics and ids may hold any character but control characters. */
function nameOf(topic: string, functionId: string): string {
  return JSON.stringify([topic, functionId]);
}

function isEmpty({ fresh, ready, blocked, delayed, retrying, parked, running, dead }: QueueStats): boolean {
  return fresh + ready + blocked + delayed + retrying + parked + running + dead === 0;
}
