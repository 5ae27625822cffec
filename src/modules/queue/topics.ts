// Topic queues: what is published goes to every subscribed function, each through a queue of its own.
//
// A subscription is kept on disk: it goes on getting copies while its worker is away, for as long as a job would wait
// for it. One that its owner takes back ends at once; what its queue still holds is delivered.
// Invariants:
//   T1  A queue of a topic has a runner as long as somebody is subscribed by way of it, or it holds anything, dead
//       letters included. Then it is forgotten, with the subscription that has ended (`#sweep`).
//   T2  A subscription is opened within the turn that binds it: what is published later comes behind what was kept.

import type { QueueStats } from '../../core/queue/shapes.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Binding, Cause, ModuleTriggerType } from '../../router/builtin.ts';
import type { PublishTarget, QueueAdapter } from './adapters/adapter.ts';
import { QUEUE_DEFAULTS, type QueueSettings, settingsOf } from './config.ts';
import { isTopicQueue, type Queues, topicQueue } from './queues.ts';
import type { QueueRunner, RunnerParts } from './runner.ts';
import { asOtherKind, readSubscriber, type Subscriber, subscriberFacts, topicSettings } from './subscriber.ts';
import { ENDED, type Subscription, Subscriptions } from './subscriptions.ts';

interface TopicsParts extends RunnerParts {
  readonly adapter: QueueAdapter;
  readonly queues: Queues;
}

const SWEEP_MS_MAX = 60_000;
const OPEN_AGAIN_MS = 1_000;

export class Topics {
  readonly triggerTypes: readonly ModuleTriggerType[];
  readonly #parts: TopicsParts;
  readonly #ttlMs: number;
  readonly #subscriptions = new Subscriptions();
  readonly #byBinding = new Map<Binding, Subscription>();
  #isStopped = false;
  #cancelSweeps: (() => void) | undefined;

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
    return this.#subscriptions.counts;
  }

  /** The queues behind a topic: one for each function, and the one of what nobody has subscribed to. */
  queuesOf(topic: string): string[] {
    const functions = this.#subscriptions.of(topic).map(({ functionId }) => functionId);
    return ['', ...functions].map((functionId) => topicQueue(topic, functionId));
  }

  async start(): Promise<void> {
    const { adapter, clock, queues } = this.#parts;
    for (const { topic, functionId, leftMs } of await adapter.subscriptions()) {
      if (this.#subscriptions.find(topic, functionId) !== undefined) continue;
      const sinceMs = leftMs ?? clock.nowMs();
      // The last engine was killed. Kept, or each such start would begin the wait anew.
      if (leftMs === undefined) await adapter.subscribe({ topic, functionId, leftMs: sinceMs });
      const awayMs = Math.max(0, clock.nowMs() - sinceMs);
      if (awayMs > this.#ttlMs) await adapter.unsubscribe(topic, functionId);
      else this.#hold(topic, functionId, clock.monotonicMs() + this.#ttlMs - awayMs);
    }
    // What is there has to expire, or to be seen, whether or not somebody publishes or subscribes again.
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

  /** A subscriber that was there in an earlier run: until it is back, its copies only wait or expire. */
  #hold(topic: string, functionId: string, endsMs: number): void {
    const settings = topicSettings(topicQueue(topic, functionId), undefined, this.#ttlMs);
    this.#add(topic, functionId, { rules: settings.rules, delayMs: 0, endsMs });
    const runner = this.#parts.queues.add(settings);
    runner.isHeld = true;
    runner.nudge();
  }

  /** Nothing in it is ever handed over: its runner only lets it expire. */
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

  #bind(binding: Binding, config: Subscriber): void {
    const { topic, delayMs } = config;
    const { functionId } = binding;
    const known = this.#subscriptions.find(topic, functionId);
    const isNew = known === undefined || known.bindings.size === 0;
    const settings = topicSettings(topicQueue(topic, functionId), config, this.#ttlMs);
    const subscription = isNew
      ? this.#add(topic, functionId, { rules: settings.rules, delayMs, endsMs: undefined })
      : known;
    subscription.bindings.add(binding);
    this.#byBinding.set(binding, subscription);
    if (isNew) this.#open(subscription, binding, settings);
    this.#chooseOrigin(subscription);
  }

  /** On whose behalf its jobs run: of several somebody who may do everything; of none, whoever was the last. */
  #chooseOrigin({ topic, functionId, bindings }: Subscription): void {
    const all = [...bindings];
    const origin = all.find(({ owner }) => owner?.access === undefined) ?? all[0];
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
    // T2
    const steps = [
      adapter.subscribe({ topic, functionId }),
      this.#openQueue(settings, before),
      adapter.handKeptTo(topicQueue(topic, ''), name, functionId, rules),
    ] as const;
    Promise.all(steps).then(
      ([, opened]) => {
        binding.error = undefined;
        if (opened.isFifo !== settings.isFifo) {
          const kind = opened.isFifo ? 'fifo' : 'standard';
          binding.error = `The type of the queue of '${topic}' cannot change before it is empty: it stays ${kind}`;
          logger.error(binding.error, { function_id: functionId });
        }
        subscription.rules = opened.rules;
        runner.isHeld = false;
        runner.configure(opened);
        runner.noteParked([functionId]);
      },
      (error: unknown) => {
        // Until then what comes waits, and it is no open queue that the next try finds.
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
    // The one that it was opened for may have left to others like it.
    if (next !== binding) next.error = binding.error;
    this.#open(subscription, next, settings);
  }

  /** In which settings: those of its other kind where it is not empty, and cannot change. */
  async #openQueue(settings: QueueSettings, before: QueueRunner | undefined): Promise<QueueSettings> {
    const { adapter } = this.#parts;
    const isOpen = before !== undefined && !before.isHeld;
    if (isOpen && before.settings.isFifo === settings.isFifo) return settings;
    const asItIs = asOtherKind(settings);
    // What runs of it is not to be taken for left over from the last run of the engine.
    if (isOpen && !before.isQuiet) return asItIs;
    const opened = await adapter.open(settings.name, settings);
    if (!opened.isRefused) return settings;
    if (!isOpen) await adapter.open(settings.name, asItIs);
    return asItIs;
  }

  #unbind(binding: Binding): void {
    const { adapter, clock, router } = this.#parts;
    const subscription = this.#byBinding.get(binding);
    if (subscription === undefined) return;
    this.#byBinding.delete(binding);
    subscription.bindings.delete(binding);
    this.#chooseOrigin(subscription);
    if (subscription.bindings.size > 0 || this.#isStopped) return;
    const { topic, functionId } = subscription;
    // A connection that ended, or an engine that does: the subscriber may come back.
    if (binding.owner?.state !== 'closed' && !router.isDraining) return this.#end(subscription);
    subscription.endsMs = clock.monotonicMs() + this.#ttlMs;
    adapter.subscribe({ topic, functionId, leftMs: clock.nowMs() }).catch(this.#notKept);
  }

  /** It gets no copies any more; it goes when its queue is empty. */
  #end(subscription: Subscription): void {
    const { topic, functionId } = subscription;
    subscription.endsMs = ENDED;
    this.#parts.adapter.unsubscribe(topic, functionId).catch(this.#notKept);
  }

  readonly #notKept = (error: unknown): void => {
    this.#parts.logger.error('The end of a subscription was not kept', { error: String(error) });
  };

  /** In one turn: whoever opens it again comes behind. */
  #forget(queue: string): boolean {
    const { adapter, logger, queues } = this.#parts;
    if (!queues.forget(queue)) return false;
    adapter.forget?.(queue).catch((error: unknown) => {
      logger.warn('A queue of a topic was not forgotten', { error: String(error) });
    });
    return true;
  }

  /** Nobody came back to some of them; others ended a while ago, and perhaps nothing is left in their queues (T1). */
  async #sweep(): Promise<void> {
    const { adapter, clock, queues } = this.#parts;
    const ended = this.#subscriptions.all.filter(({ endsMs }) => endsMs === ENDED);
    const keepers = queues.all.map(({ settings }) => settings.name).filter((name) => name.endsWith('\n'));
    for (const subscription of this.#subscriptions.all) {
      const { endsMs } = subscription;
      if (endsMs !== undefined && endsMs !== ENDED && endsMs <= clock.monotonicMs()) this.#end(subscription);
    }
    if (ended.length + keepers.length === 0) return;
    // A broker that is away has nothing to tell.
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

function isEmpty({ fresh, ready, blocked, delayed, retrying, parked, running, dead }: QueueStats): boolean {
  return fresh + ready + blocked + delayed + retrying + parked + running + dead === 0;
}
