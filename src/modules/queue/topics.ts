// Topic queues: a published message goes to every subscribed function, each through a queue of its own.
//
// A subscription is kept on disk: it gets copies while its worker is away, for as long as a job would wait for it. One
// that its owner removes ends at once; the jobs left in its queue are delivered.
// Invariants:
//   - A queue of a topic has a runner while a function is subscribed through it, or while it holds anything, including
//     dead letters. Then it is removed, with the subscription that has ended (`#sweep`).
//   - A subscription is opened within the turn that binds it: later messages come after those that were kept.

import { type Access, coversId } from '../../core/access/access.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { isTopicQueue, topicQueue } from '../../core/queue/queue-names.ts';
import type { StoredSubscription } from '../../core/queue/records.ts';
import type { QueueStats } from '../../core/queue/shapes.ts';
import { fitWaits } from '../../core/queue/waits.ts';
import type { Binding, Cause, ModuleTriggerType, Removal } from '../../router/builtin.ts';
import { trustedFirst } from '../../router/restricted/reach.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import { lackOf, needed, type PublishTarget, type TopicStore } from './adapters/capabilities.ts';
import { QUEUE_DEFAULTS, type QueueSettings, settingsOf } from './config.ts';
import type { Queues } from './queues.ts';
import type { QueueRunner, RunnerContext } from './runner.ts';
import {
  asOtherKind,
  describeSubscriber,
  ENDED,
  readSubscriber,
  type Subscriber,
  type Subscription,
  Subscriptions,
  topicSettings,
} from './subscriptions.ts';

interface TopicsContext extends RunnerContext {
  readonly adapter: QueueAdapter;
  readonly queues: Queues;
}

const SWEEP_MS_MAX = 60_000;
const OPEN_AGAIN_MS = 1_000;
/** Subscriptions of restricted connections: the limit of the live ones, and of those whose connection left. */
const RESTRICTED_PER_TOPIC_MAX = 100;
const RESTRICTED_MAX = 1_000;
/** Topics without a subscriber that restricted connections published to: each has a queue too. */
const RESTRICTED_KEPT_MAX = 1_000;
/** Live ones, those that wait, and those that ended and still hold jobs: each has a queue of the 65 535 of a store. */
const RESTRICTED_QUEUES_MAX = 10_000;

interface Publication extends Omit<Cause, 'depth'> {
  /** Of the caller. */
  readonly rights?: Access | undefined;
}

export class Topics {
  readonly triggerTypes: readonly ModuleTriggerType[];
  readonly #context: TopicsContext;
  readonly #ttlMs: number;
  readonly #subscriptions = new Subscriptions();
  readonly #byBinding = new Map<Binding, Subscription>();
  /** Those of restricted connections alone, until their queue is removed. */
  readonly #restricted = new Set<Subscription>();
  /** Those of them whose connection left, oldest first. */
  readonly #awayRestricted = new Set<Subscription>();
  readonly #keptForRestricted = new Set<string>();
  #isStopped = false;
  #cancelSweeps: (() => void) | undefined;

  constructor(context: TopicsContext, ttlMs: number) {
    this.#context = context;
    this.#ttlMs = ttlMs;
    this.triggerTypes = ['durable:subscriber', 'queue'].map((id) => ({
      id,
      spec: describeSubscriber(id),
      refuse: (config: unknown, binding: Binding) => {
        if (context.adapter.topics === undefined) return lackOf(context.adapter, 'topics');
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

  /** Rejects a message, and a subscription, where the adapter keeps none. */
  get #store(): TopicStore {
    return needed(this.#context.adapter, 'topics');
  }

  async start(): Promise<void> {
    const { adapter, clock, queues, router } = this.#context;
    const store = adapter.topics;
    if (store === undefined) return;
    for (const { topic, functionId, leftMs, isTrusted } of await store.subscriptions()) {
      if (isTrusted === true) router.reserve('subscription', nameOf(topic, functionId));
      if (this.#subscriptions.find(topic, functionId) !== undefined) continue;
      const sinceMs = leftMs ?? clock.nowMs();
      // The last engine was killed. The time is kept, or each such start would restart the wait.
      if (leftMs === undefined) await store.subscribe({ ...this.#storedForm(topic, functionId), leftMs: sinceMs });
      const awayMs = Math.max(0, clock.nowMs() - sinceMs);
      if (awayMs > this.#ttlMs) await store.unsubscribe(topic, functionId);
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
      if (functionId === '') this.#expiringQueue(queue);
      else this.#hold(topic, functionId, ENDED);
    }
    this.#cancelSweeps = clock.every(Math.min(SWEEP_MS_MAX, this.#ttlMs), () => void this.#sweep());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelSweeps?.();
  }

  /** Durable when it resolves. Rejects with a `Refusal`. */
  async publish(topic: string, data: Uint8Array, { traceparent, baggage, rights }: Publication): Promise<void> {
    const { clock, queues, router } = this.#context;
    const store = this.#store;
    if (router.isDraining && !router.isInCluster)
      throw new Refusal('SHUTTING_DOWN', 'The engine is shutting down and takes no new messages');
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
    if (targets.length === 0 && rights !== undefined) this.#chargeKept(topicQueue(topic, ''));
    if (targets.length > 0) await store.publish(targets, data);
    else await store.publish([{ ...this.#keptTarget(topic), traceparent, baggage }], data);
    for (const { queue } of targets) {
      queues.find(queue)?.noteEnqueued();
      queues.find(queue)?.noteNews();
    }
    if (targets.length === 0) this.#expiringQueue(topicQueue(topic, '')).nudge();
  }

  /** Any name is a topic: one client could fill the queues of the store with names that no function subscribes. */
  #chargeKept(queue: string): void {
    const kept = this.#keptForRestricted;
    if (kept.size >= RESTRICTED_KEPT_MAX && !kept.has(queue)) {
      const text = `Messages of restricted ports wait in ${kept.size} topics without a subscriber, which is the limit`;
      throw new Refusal('OVERLOADED', text);
    }
    kept.add(queue);
  }

  #keptTarget(topic: string): PublishTarget {
    const rules = { ...settingsOf('', QUEUE_DEFAULTS).rules, unroutableTtlMs: this.#ttlMs };
    return { queue: topicQueue(topic, ''), rules, functionId: 'no_subscriber', delayMs: 0, isKept: true };
  }

  /** In drop-in mode the waits of a fifo queue are limited to what the adapter allows, and not refused (Q4). */
  #settings(queue: string, subscriber: Subscriber): QueueSettings {
    const { adapter, router, logger } = this.#context;
    const settings = topicSettings(queue, subscriber, this.#ttlMs);
    if (!router.isDropIn || !settings.isFifo || adapter.fifoWaitsMsMax === undefined) return settings;
    const retry = fitWaits(settings.retry, adapter.fifoWaitsMsMax);
    if (retry === settings.retry) return settings;
    logger.warn('The waits of a subscription are limited, as all of them have to fit into the time limit of RabbitMQ', {
      topic: subscriber.topic,
      longest_wait_ms: retry.waitMsMax,
    });
    return { ...settings, retry };
  }

  /** A subscriber of an earlier run: until it is back, its copies only wait or expire. */
  #hold(topic: string, functionId: string, endsMs: number): void {
    const settings = topicSettings(topicQueue(topic, functionId), undefined, this.#ttlMs);
    const held = this.#add(topic, functionId, { rules: settings.rules, delayMs: 0, endsMs });
    if (!this.#isReserved(topic, functionId)) this.#restricted.add(held);
    const runner = this.#context.queues.add(settings);
    runner.detach();
    runner.nudge();
  }

  /** Jobs of this queue are never handed over: its runner only lets them expire. */
  #expiringQueue(queue: string): QueueRunner {
    const known = this.#context.queues.find(queue);
    if (known !== undefined) return known;
    const runner = this.#context.queues.add(settingsOf(queue, QUEUE_DEFAULTS));
    runner.nudge();
    return runner;
  }

  #add(topic: string, functionId: string, settings: Pick<Subscription, 'rules' | 'delayMs' | 'endsMs'>): Subscription {
    const before = this.#subscriptions.find(topic, functionId);
    if (before !== undefined) this.#restricted.delete(before);
    const subscription = { topic, functionId, bindings: new Set<Binding>(), awaitsTrusted: false, ...settings };
    this.#subscriptions.put(subscription);
    return subscription;
  }

  #isReserved(topic: string, functionId: string): boolean {
    return this.#context.router.reservations.has('subscription', nameOf(topic, functionId));
  }

  /** As the adapter keeps it. */
  #storedForm(topic: string, functionId: string): StoredSubscription {
    return { topic, functionId, ...(this.#isReserved(topic, functionId) && { isTrusted: true }) };
  }

  /** Messages kept for a trusted subscriber are not handed to a restricted one that subscribes the same function. */
  #subscriptionOffence({ topic }: Subscriber, { owner, functionId }: Binding): string | undefined {
    if (owner?.access === undefined) return undefined;
    if (!this.#isReserved(topic, functionId)) return this.#limitOffence(topic, functionId);
    return `The subscription of '${functionId}' to '${topic}' belongs to a trusted worker`;
  }

  /** Every subscription makes a job of each message, and takes a queue of the store. */
  #limitOffence(topic: string, functionId: string): string | undefined {
    const known = this.#subscriptions.find(topic, functionId);
    if (known !== undefined && known.bindings.size > 0) return undefined;
    const live = [...this.#restricted].filter(({ bindings }) => bindings.size > 0);
    const ofTopic = live.filter((one) => one.topic === topic).length;
    const whose = 'Restricted ports have';
    if (ofTopic >= RESTRICTED_PER_TOPIC_MAX)
      return `${whose} ${ofTopic} subscriptions to '${topic}' together, the limit`;
    if (live.length >= RESTRICTED_MAX) return `${whose} ${live.length} subscriptions together, the limit`;
    if (this.#restricted.size < RESTRICTED_QUEUES_MAX) return undefined;
    return `${whose} ${this.#restricted.size} queues of topics together, the limit; empty ones leave in a minute`;
  }

  #bind(binding: Binding, config: Subscriber): void {
    const { topic, delayMs } = config;
    const { functionId, owner } = binding;
    if (owner?.access === undefined) this.#context.router.reserve('subscription', nameOf(topic, functionId));
    const known = this.#subscriptions.find(topic, functionId);
    const isNew = known === undefined || known.bindings.size === 0;
    // Of several the first says how it is delivered, but a restricted one does not for a trusted one.
    const takesOver = !isNew && owner?.access === undefined && [...known.bindings].every(isRestricted);
    const settings = this.#settings(topicQueue(topic, functionId), config);
    const subscription = isNew
      ? this.#add(topic, functionId, { rules: settings.rules, delayMs, endsMs: undefined })
      : known;
    if (takesOver) Object.assign(subscription, { rules: settings.rules, delayMs });
    subscription.bindings.add(binding);
    if (owner?.access === undefined) this.#restricted.delete(subscription);
    else this.#restricted.add(subscription);
    if (known !== undefined) this.#awayRestricted.delete(known);
    this.#byBinding.set(binding, subscription);
    if (isNew || takesOver) this.#open(subscription, binding, settings);
    this.#chooseOrigin(subscription);
  }

  /** The trigger on whose behalf its jobs run: of several, one with all rights; of none, the last one. */
  #chooseOrigin({ topic, functionId, bindings }: Subscription): void {
    const [first] = trustedFirst(bindings);
    // Messages kept for a trusted subscriber run on its behalf while it is away, even if restricted ones subscribed.
    const isForeign = first?.owner?.access !== undefined && this.#isReserved(topic, functionId);
    const origin = isForeign ? undefined : first;
    const runner = this.#context.queues.find(topicQueue(topic, functionId));
    if (runner !== undefined && origin !== undefined) runner.origin = origin;
  }

  #open(subscription: Subscription, binding: Binding, settings: QueueSettings): void {
    const { clock, queues, logger } = this.#context;
    const store = this.#store;
    const { topic, functionId, rules } = subscription;
    const { name } = settings;
    const before = queues.find(name);
    const isOpen = before !== undefined && !before.isDetached;
    const runner = before ?? queues.add(settings);
    // Opens the subscription within the turn that binds it.
    const steps = [
      store.subscribe(this.#storedForm(topic, functionId)),
      this.#openQueue(settings, before),
      mayHaveKept(binding) ? store.handKeptTo(topicQueue(topic, ''), name, functionId, rules) : undefined,
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
        runner.attach();
        runner.configure(opened);
        runner.noteParked([functionId]);
      },
      (error: unknown) => {
        // Until then jobs wait, and the next attempt does not find an open queue.
        if (!isOpen) runner.detach();
        const isNews = binding.error === undefined;
        binding.error = String(error);
        const fields = { topic, function_id: functionId, error: binding.error };
        if (isNews) logger.error('A subscription could not be kept', fields);
        // A broker becomes available again, and a disk has space again (K3, D4).
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
    const { adapter } = this.#context;
    const isOpen = before !== undefined && !before.isDetached;
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
    const { clock, router } = this.#context;
    const subscription = this.#byBinding.get(binding);
    if (subscription === undefined) return;
    this.#byBinding.delete(binding);
    subscription.bindings.delete(binding);
    this.#chooseOrigin(subscription);
    const { topic, functionId } = subscription;
    // A connection that ended or is about to, or an engine that does: the subscriber may reconnect.
    const isTakenBack = removal === 'taken_back' && !router.isDraining;
    if (!isRestricted(binding)) {
      router.reserve('subscription', nameOf(topic, functionId));
      subscription.awaitsTrusted = !isTakenBack;
    }
    if (subscription.bindings.size > 0 || this.#isStopped) return;
    // A restricted connection ends no subscription of a trusted worker that is away.
    if (isTakenBack && !subscription.awaitsTrusted) return this.#end(subscription);
    subscription.endsMs = clock.monotonicMs() + this.#ttlMs;
    if (!subscription.awaitsTrusted) this.#awayRestricted.add(subscription);
    this.#store.subscribe({ ...this.#storedForm(topic, functionId), leftMs: clock.nowMs() }).catch(this.#notKept);
    this.#limitAway(topic);
  }

  /** Every subscription makes a job of each message: those that restricted connections leave are bounded. */
  #limitAway(topic: string): void {
    const { logger, router } = this.#context;
    const ofTopic = [...this.#awayRestricted].filter((one) => one.topic === topic);
    const isOver = ofTopic.length > RESTRICTED_PER_TOPIC_MAX || this.#awayRestricted.size > RESTRICTED_MAX;
    const [oldest] = ofTopic.length > RESTRICTED_PER_TOPIC_MAX ? ofTopic : this.#awayRestricted;
    if (!isOver || oldest === undefined) return;
    this.#awayRestricted.delete(oldest);
    router.count('topics.away_ended');
    logger.warn('A subscription of a restricted connection that left is ended: too many of them wait', {
      topic: oldest.topic,
      function_id: oldest.functionId,
      limit_per_topic: RESTRICTED_PER_TOPIC_MAX,
      limit: RESTRICTED_MAX,
    });
    this.#end(oldest);
  }

  /** It gets no copies any more; it is removed when its queue is empty. */
  #end(subscription: Subscription): void {
    const { topic, functionId } = subscription;
    subscription.endsMs = ENDED;
    this.#awayRestricted.delete(subscription);
    this.#store.unsubscribe(topic, functionId).catch(this.#notKept);
  }

  readonly #notKept = (error: unknown): void => {
    this.#context.logger.error('The end of a subscription was not kept', { error: String(error) });
  };

  /** In one turn: a caller that opens it again comes after this. */
  #forget(queue: string): boolean {
    const { logger, queues } = this.#context;
    if (!queues.forget(queue)) return false;
    this.#keptForRestricted.delete(queue);
    this.#store.forget(queue).catch((error: unknown) => {
      logger.warn('A queue of a topic could not be removed', { error: String(error) });
    });
    return true;
  }

  /** Some subscribers did not reconnect; others ended a while ago, and their queues may be empty now. */
  async #sweep(): Promise<void> {
    const { adapter, clock, queues } = this.#context;
    const ended = this.#subscriptions.all.filter(({ endsMs }) => endsMs === ENDED);
    const expiring = queues.all.map(({ settings }) => settings.name).filter((name) => name.endsWith('\n'));
    for (const subscription of this.#subscriptions.all) {
      const { endsMs } = subscription;
      if (endsMs !== undefined && endsMs !== ENDED && endsMs <= clock.monotonicMs()) this.#end(subscription);
    }
    if (ended.length + expiring.length === 0) return;
    // A broker that is away cannot answer.
    const held = await adapter.stats().catch(() => undefined);
    if (held === undefined || this.#isStopped) return;
    const notEmpty = new Set(held.filter((stats) => !isEmpty(stats)).map(({ queue }) => queue));
    for (const name of expiring) if (!notEmpty.has(name)) this.#forget(name);
    for (const subscription of ended) {
      const { topic, functionId } = subscription;
      const name = topicQueue(topic, functionId);
      const isStill = this.#subscriptions.find(topic, functionId) === subscription;
      if (!isStill || notEmpty.has(name) || !this.#forget(name)) continue;
      this.#subscriptions.remove(subscription);
      this.#restricted.delete(subscription);
    }
  }
}

/** A message that had no subscriber waits for a trusted one, because only one subscriber gets it. */
function mayHaveKept({ owner, functionId }: Binding): boolean {
  return owner?.access === undefined || coversId(owner.access, functionId);
}

function isRestricted({ owner }: Binding): boolean {
  return owner?.access !== undefined;
}

/** The reserved name of a subscription: topics and ids may hold any character but control characters. */
function nameOf(topic: string, functionId: string): string {
  return JSON.stringify([topic, functionId]);
}

function isEmpty({ fresh, ready, blocked, delayed, retrying, parked, running, dead }: QueueStats): boolean {
  return fresh + ready + blocked + delayed + retrying + parked + running + dead === 0;
}
