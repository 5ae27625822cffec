// The adapter `rabbitmq`: jobs in quorum queues. The broker confirms each job before its receipt is sent.
//
// RabbitMQ pushes jobs to this engine, up to a limit. `consumer.ts` keeps them, and the module claims from there. What
// RabbitMQ cannot do is refused (`limits.ts`) and listed in docs/queues.md. There are two connections, one that
// publishes and one that consumes, so that a broker that blocks publishers still accepts acknowledgements.

import { Refusal } from '../../../../core/calls/refusal.ts';
import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { EnqueueAnswer, EnqueueRules, QueueStats } from '../../../../core/queue/shapes.ts';
import { heldWaitsMsMax } from '../../../../core/queue/waits.ts';
import type { Clock } from '../../../../effects/clock.ts';
import { atMost } from '../../../../effects/clock.ts';
import type { Logger } from '../../../../effects/logger.ts';
import type { RabbitLink } from '../../../../effects/rabbitmq.ts';
import type { Random } from '../../../../effects/random.ts';
import { StartFailure } from '../../../../effects/start-failure.ts';
import type { Advanced, OpenedQueue, QueueAdapter, QueueKind } from '../adapter.ts';
import type { DeadLetters, JobLookup, Pausing, PublishTarget, Sharing, TopicStore } from '../capabilities.ts';
import { headerOfCopy, placementOf } from '../new-jobs.ts';
import { QueueConsumer } from './consumer.ts';
import { Fullness, jobOffence, kindOffence } from './limits.ts';
import { encodeMessage, Mover, Receipts } from './messages.ts';
import { DeadLetterQueues, ParkedJobs } from './parked-and-dead.ts';
import { QueueRegistry } from './registry.ts';
import { Inspector } from './scan.ts';
import { BrokerNames, Topology } from './topology.ts';

export interface RabbitQueueOptions {
  /** Rejects with a `StartFailure` when the settings can never work. */
  readonly createLink: (purpose: string, onUp: () => void) => Promise<RabbitLink>;
  /** The prefix of every queue and exchange. */
  readonly prefix: string;
  readonly consumerTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly logger: Logger;
}

const NULL = Buffer.from('null');
/** Claimed in addition to what runs. */
const AHEAD_MAX = 64;
/** A held job is redelivered well before RabbitMQ takes the engine for dead. */
const REFRESHES_PER_TIMEOUT = 3;
/** A broker that does not answer must not delay the end of the engine (G1). */
const STOP_MS_MAX = 2_000;

/** Everything that needs a connection. */
interface Connected {
  readonly publishing: RabbitLink;
  readonly consuming: RabbitLink;
  readonly topology: Topology;
  readonly mover: Mover;
  readonly registry: QueueRegistry;
  readonly inspector: Inspector;
  readonly deadLetters: DeadLetterQueues;
  readonly parkedJobs: ParkedJobs;
  readonly fullness: Fullness;
}

export class RabbitQueues implements QueueAdapter {
  readonly name = 'rabbitmq';
  readonly fifoWaitsMsMax: number;
  readonly #options: RabbitQueueOptions;
  readonly #receipts: Receipts;
  readonly #consumers = new Map<string, QueueConsumer>();
  readonly #steps = new Set<Promise<unknown>>();
  #changed: (queue: string) => void = () => {};
  #started: Connected | undefined;

  readonly sharing: Sharing = {
    mayHandOver: (queue, job) => this.#consumers.get(queue)?.isClaimed(job) === true,
    parkedElsewhere: (queue) => this.#parkedElsewhere(queue),
  };

  readonly pausing: Pausing = {
    setPaused: async (queue, isPaused) => {
      await this.#connected.registry.changeQueue(queue, { isPaused });
      const consumer = this.#consumers.get(queue);
      if (isPaused) await consumer?.pause();
      else consumer?.start();
    },
  };

  readonly jobLookup: JobLookup = {
    find: async (id) => {
      for (const consumer of this.#consumers.values()) {
        const row = consumer.row(id);
        if (row !== undefined) return row;
      }
      const text = `The job ${id} does not run in a worker of this engine, and was not handled by it recently`;
      throw new Refusal('NOT_FOUND', `${text}. RabbitMQ cannot look for one job among those that wait`);
    },
  };

  readonly deadLetters: DeadLetters = {
    list: async (page) => {
      if (this.#connected.registry.find(page.queue) === undefined) return Buffer.from('[]');
      return await this.#connected.deadLetters.list(page);
    },
    redrive: async (queue, id, payload) => {
      if (this.#connected.registry.find(queue) === undefined) return 0;
      return await this.#connected.deadLetters.redrive(queue, id, payload);
    },
    discard: async (queue, id) => {
      if (this.#connected.registry.find(queue) === undefined) return 0;
      return await this.#connected.deadLetters.discard(queue, id);
    },
  };

  readonly topics: TopicStore = {
    publish: (targets, data) => this.#publish(targets, data),
    subscriptions: async () => (await this.#connected.registry.read()).subscriptions,
    subscribe: async (added) => {
      await this.#connected.registry.change((registry) => {
        const others = registry.subscriptions.filter((one) => !isSame(one, added));
        return { ...registry, subscriptions: [...others, added] };
      });
    },
    unsubscribe: async (topic, functionId) => {
      await this.#connected.registry.change((registry) => {
        const subscriptions = registry.subscriptions.filter((one) => !isSame(one, { topic, functionId }));
        return { ...registry, subscriptions };
      });
    },
    handKeptTo: async (from, to, functionId, rules) => {
      if (this.#connected.registry.find(from) === undefined) return 0;
      await this.#ensure(to, rules);
      const { fullness, parkedJobs } = this.#connected;
      await fullness.look(to);
      return await parkedJobs.handTo(from, to, functionId, () => fullness.refusal(to, rules) === undefined);
    },
    // Other engines may still use its queues in RabbitMQ.
    forget: async () => {},
  };

  constructor(options: RabbitQueueOptions) {
    this.fifoWaitsMsMax = heldWaitsMsMax(options.consumerTimeoutMs);
    this.#options = options;
    this.#receipts = new Receipts(options.clock, options.random);
  }

  get trouble(): string | undefined {
    if (this.#started === undefined) return 'not started';
    return this.#started.publishing.trouble ?? this.#started.consuming.trouble;
  }

  get location(): Readonly<Record<string, string>> {
    return this.#started === undefined ? {} : { address: this.#started.publishing.address };
  }

  async start(changed: (queue: string) => void): Promise<void> {
    const { createLink, prefix, clock } = this.#options;
    this.#changed = changed;
    let topology: Topology | undefined;
    const publishing = await createLink('queues', () => topology?.forget());
    const consuming = await createLink('jobs', () => {});
    topology = new Topology(consuming, new BrokerNames(prefix), clock);
    const mover = new Mover(publishing, topology);
    try {
      await Promise.all([publishing.open(), consuming.open()]);
      const registry = new QueueRegistry(publishing, topology.names.registry, clock);
      await registry.read();
      const inspector = new Inspector(consuming, clock);
      const deadLetters = new DeadLetterQueues(inspector, topology, mover);
      const parkedJobs = new ParkedJobs(inspector, topology, mover);
      const fullness = new Fullness(topology, clock, (queue) => this.#consumers.get(queue)?.held ?? 0);
      this.#started = {
        publishing,
        consuming,
        topology,
        mover,
        registry,
        inspector,
        deadLetters,
        parkedJobs,
        fullness,
      };
    } catch (error) {
      await Promise.all([publishing.close(), consuming.close()]);
      throw error;
    }
  }

  async open(queue: string, kind: QueueKind): Promise<OpenedQueue> {
    const { consumerTimeoutMs } = this.#options;
    const { topology, registry, fullness, parkedJobs } = this.#connected;
    const offence = kindOffence(queue, kind, consumerTimeoutMs);
    if (offence !== undefined) throw new StartFailure(78, offence);
    const { isFifo } = kind;
    const known = registry.find(queue);
    if (known !== undefined && (known.isFifo ?? isFifo) !== isFifo) {
      const { work, parked, dead } = await topology.counts(queue);
      const own = this.#consumers.get(queue);
      // Jobs that were handed to another engine are counted nowhere, and would be deleted with the queue.
      const others = (await topology.consumers(queue)) - (own === undefined ? 0 : 1);
      if (work + parked + dead + (own?.held ?? 0) > 0 || others > 0) return { isRefused: true, parkedFunctions: [] };
      this.#consumers.delete(queue);
      await own?.stop();
      await topology.remove(queue);
    }
    await topology.ensureQueue(queue, isFifo);
    if (known?.isFifo !== isFifo) await registry.changeQueue(queue, { isFifo });
    await fullness.look(queue);
    const consumer = this.#consumers.get(queue) ?? this.#newConsumer(queue, kind);
    this.#consumers.set(queue, consumer);
    if (registry.find(queue)?.isPaused !== true) consumer.start();
    const parkedFunctions = new Set([...consumer.parkedFunctions, ...(await parkedJobs.functions(queue))]);
    return { isRefused: false, parkedFunctions: [...parkedFunctions] };
  }

  enqueue: QueueAdapter['enqueue'] = (queue, rules, job, done) => {
    const bytes = job.payload === undefined ? NULL : job.payload.asJsonBytes();
    if (bytes === undefined) {
      done({ reason: 'INVALID_ARGUMENTS', message: 'The payload is not JSON, or nested too deep' });
      return;
    }
    const refused = jobOffence(job, rules) ?? this.#refusal(queue, rules, bytes);
    if (refused !== undefined) return done(refused);
    const { id, atMs: enqueuedMs } = this.#receipts.next();
    const { facts, delayMs = 0 } = job;
    const body = encodeMessage({ id, enqueuedMs, facts, attempts: 0, deliveries: 0 }, bytes);
    this.#keep(queue, rules, delayMs, body).then(
      () => done({ id }),
      (error: unknown) => done(refusedBy(error)),
    );
  };

  advance: QueueAdapter['advance'] = (step, done) => {
    const taken = this.#advance(step).then(done);
    this.#steps.add(taken);
    void taken.finally(() => this.#steps.delete(taken));
  };

  async wake(queue: string, functionId: string): Promise<number> {
    const held = this.#consumers.get(queue)?.wake(functionId) ?? 0;
    return held + (await this.#connected.parkedJobs.wake(queue, functionId));
  }

  /** Jobs in the ladder of waits are in no queue of their own and are counted when they leave it. */
  async stats(): Promise<readonly QueueStats[]> {
    const { topology } = this.#connected;
    const { queues } = await this.#connected.registry.read();
    const rows: QueueStats[] = [];
    for (const { name, isFifo, isPaused } of queues) {
      await topology.ensureQueue(name, isFifo === true);
      const { work, parked, dead } = await topology.counts(name);
      const own = this.#consumers.get(name)?.counts;
      const { buffered = 0, running = 0, retrying = 0, delayed = 0 } = own ?? {};
      const counts = { fresh: work + buffered, ready: 0, blocked: 0, delayed, retrying, running, dead };
      rows.push({ queue: name, isPaused, ...counts, parked: parked + (own?.parked ?? 0) });
    }
    return rows;
  }

  async stop(): Promise<void> {
    const { publishing, consuming } = this.#started ?? {};
    await atMost(this.#options.clock, STOP_MS_MAX, this.#endInOrder());
    await Promise.all([publishing?.close(), consuming?.close()]);
  }

  /** RabbitMQ has no transaction for several queues: an interrupted publication may have reached some of them. */
  async #publish(targets: readonly PublishTarget[], data: Uint8Array): Promise<void> {
    for (const { queue, rules } of targets) {
      const refused = this.#refusal(queue, rules, data);
      if (refused !== undefined) throw new Refusal('enqueue_error', refused.message);
    }
    const kept = targets.map(async (target) => {
      const { queue, rules, delayMs, isKept } = target;
      const { id, atMs: enqueuedMs } = this.#receipts.next();
      const job: BrokerJob = { id, enqueuedMs, facts: headerOfCopy(target), attempts: 0, deliveries: 0 };
      const { mover, registry } = this.#connected;
      if (registry.find(queue) === undefined) await registry.changeQueue(queue, {});
      if (!isKept) return await this.#keep(queue, rules, delayMs, encodeMessage(job, data));
      await this.#ensure(queue, rules);
      await mover.parked(queue, rules.unroutableTtlMs, encodeMessage({ ...job, isKept }, data));
    });
    await Promise.all(kept);
  }

  async #parkedElsewhere(queue: string): Promise<readonly string[]> {
    const { topology, parkedJobs } = this.#connected;
    // A queue that this engine does not work on must not even be declared.
    if (!this.#consumers.has(queue)) return [];
    if ((await topology.consumers(queue)) < 2 || (await topology.counts(queue)).parked === 0) return [];
    return await parkedJobs.functions(queue);
  }

  async #endInOrder(): Promise<void> {
    // Outcomes that must be published come first; if the broker is away, the jobs come again.
    if (this.trouble === undefined) await Promise.all(this.#steps);
    const consumers = [...this.#consumers.values()];
    await Promise.all([this.#started?.inspector.close(), ...consumers.map((consumer) => consumer.stop())]);
  }

  get #connected(): Connected {
    if (this.#started !== undefined) return this.#started;
    throw new Refusal('STORAGE_UNAVAILABLE', 'The RabbitMQ of the queues is not connected yet');
  }

  async #advance(step: Parameters<QueueAdapter['advance']>[0]): Promise<Advanced> {
    const consumer = this.#consumers.get(step.queue);
    if (consumer === undefined) return { jobs: [], hasMore: false, nextDueMs: null, stale: 0, died: 0 };
    const ends = await Promise.all(step.settled.map((outcome) => consumer.settle(outcome)));
    const { jobs, died } = await consumer.claim(step.claim, step.deliveriesMax);
    return {
      jobs,
      hasMore: consumer.hasMore,
      nextDueMs: null,
      stale: ends.filter((end) => end === 'stale').length,
      died: died + ends.filter((end) => end === 'died').length,
    };
  }

  #newConsumer(queue: string, { isFifo, concurrency, rules }: QueueKind): QueueConsumer {
    const { clock, logger, consumerTimeoutMs } = this.#options;
    const { consuming, topology, mover } = this.#connected;
    return new QueueConsumer({
      queue,
      isFifo,
      // More than one would overtake a waiting head (F2).
      prefetch: isFifo ? 1 : concurrency + Math.min(AHEAD_MAX, concurrency),
      refreshMs: consumerTimeoutMs / REFRESHES_PER_TIMEOUT,
      unroutableTtlMs: rules.unroutableTtlMs,
      link: consuming,
      topology,
      mover,
      clock,
      logger,
      changed: () => this.#changed(queue),
    });
  }

  #refusal(queue: string, rules: EnqueueRules, payload: Uint8Array) {
    if (this.trouble !== undefined) return refusedBy(new Error(`RabbitMQ cannot be used: ${this.trouble}`));
    const placement = placementOf(queue, rules, undefined, payload);
    return 'reason' in placement ? placement : this.#connected.fullness.refusal(queue, rules);
  }

  async #ensure(queue: string, { groupField, isOneGroup }: EnqueueRules): Promise<void> {
    await this.#connected.topology.ensureQueue(queue, groupField !== undefined || isOneGroup === true);
  }

  async #keep(queue: string, rules: EnqueueRules, delayMs: number, body: Buffer): Promise<void> {
    await this.#ensure(queue, rules);
    await this.#connected.mover.later(queue, delayMs, body);
  }
}

function refusedBy(error: unknown): Exclude<EnqueueAnswer, { id: string }> {
  const reason = error instanceof Refusal && error.code === 'STORAGE_FULL' ? error.code : 'STORAGE_UNAVAILABLE';
  return { reason, message: error instanceof Error ? error.message : String(error) };
}

function isSame(one: { topic: string; functionId: string }, other: { topic: string; functionId: string }): boolean {
  return one.topic === other.topic && one.functionId === other.functionId;
}
