// The deliveries of one queue: jobs that RabbitMQ handed to this engine and that are not acknowledged yet.
//
// A delivery is buffered (may be claimed), then claimed (a worker has it, or will), held (FIFO only: waits for its
// retry, its function or a free worker without leaving its place in the queue), and answered. It also ends with its
// channel: then RabbitMQ hands the message out again.
// Invariants:
//   - A delivery is answered once, on the channel that it came on. Outcomes of other deliveries are stale (Q8).
//   - A message that moves elsewhere is confirmed there before it is acknowledged here: it may be seen twice, but is
//     never lost.
//   - The history of a held job is kept by its receipt, so that a lost channel costs no attempt.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { JobRow, JobState, SettledJob, TakenJob } from '../../../../core/queue/shapes.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { Logger } from '../../../../effects/logger.ts';
import type { RabbitChannel } from '../../../../effects/rabbit-channel.ts';
import type { RabbitLink, RabbitMessage } from '../../../../effects/rabbitmq.ts';
import { type Memory, Remembered } from './held-jobs.ts';
import { encodeMessage, type JobMessage, type Mover, readMessage } from './messages.ts';
import type { Topology } from './topology.ts';

export interface ConsumerOptions {
  readonly queue: string;
  readonly isFifo: boolean;
  readonly prefetch: number;
  /** A held job is redelivered this often, before RabbitMQ takes the engine for dead. */
  readonly refreshMs: number;
  readonly unroutableTtlMs: number;
  readonly link: RabbitLink;
  readonly topology: Topology;
  readonly mover: Mover;
  readonly clock: Clock;
  readonly logger: Logger;
  /** There is something to claim. */
  readonly changed: () => void;
}

interface Delivery {
  readonly seq: number;
  readonly channel: RabbitChannel;
  readonly message: JobMessage;
  readonly memory: Memory;
  token: number;
  state: 'buffered' | 'claimed' | 'held';
  cancelTimer?: () => void;
}

const AGAIN_MS = 200;

export class QueueConsumer {
  readonly #options: ConsumerOptions;
  readonly #deliveries = new Map<number, Delivery>();
  readonly #buffer: Delivery[] = [];
  readonly #remembered = new Remembered();
  #channel: RabbitChannel | undefined;
  #mode: 'consuming' | 'paused' | 'stopped' = 'paused';
  /** Ends when its channel is open, or failed to open. */
  #opening: Promise<void> | undefined;
  #lastNumber = 0;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  get counts() {
    const states = [...this.#deliveries.values()].map(({ state, memory }) => (state === 'held' ? memory.word : state));
    const count = (word: string): number => states.filter((state) => state === word).length;
    return {
      buffered: count('buffered'),
      running: count('claimed'),
      retrying: count('retrying'),
      delayed: count('delayed'),
      parked: count('parked'),
    };
  }

  /** The number of unanswered deliveries. */
  get held(): number {
    return this.#deliveries.size;
  }

  get parkedFunctions(): string[] {
    return [...this.#deliveries.values()]
      .filter(({ state, memory }) => state === 'held' && memory.word === 'parked')
      .map(({ message }) => message.job.facts.functionId);
  }

  get hasMore(): boolean {
    return this.#mode === 'consuming' && this.#buffer.length > 0;
  }

  /** A job that this engine was handed. */
  row(id: string): JobRow | undefined {
    const found = [...this.#deliveries.values()].find(({ message }) => message.job.id === id);
    if (found === undefined) return undefined;
    const { job, payload } = found.message;
    const state: JobState =
      found.state === 'claimed' ? 'running' : found.state === 'held' ? found.memory.state : 'waiting';
    return {
      messageReceiptId: id,
      queue: this.#options.queue,
      function_id: job.facts.functionId,
      state,
      attempt: found.memory.attempts + (state === 'running' ? 1 : 0),
      enqueued_at: job.enqueuedMs,
      size_bytes: payload.length,
      ...(found.memory.error !== undefined && { error: found.memory.error }),
    };
  }

  start(): void {
    if (this.#mode === 'stopped') return;
    this.#mode = 'consuming';
    this.#consume();
  }

  /** Jobs that were not claimed go back. */
  async pause(): Promise<void> {
    if (this.#mode !== 'consuming') return;
    this.#mode = 'paused';
    const channel = this.#channel;
    this.#channel = undefined;
    for (const delivery of this.#buffer.splice(0)) this.#requeue(delivery, true);
    if (channel?.active !== true) return;
    await channel.basicCancel(CONSUMER_TAG).catch(() => {});
    // Running jobs are still answered on this channel, which ends with the last answer.
    this.#endIdle(channel);
  }

  /** When it resolves, all written acknowledgements are on their way. */
  async stop(): Promise<void> {
    this.#mode = 'stopped';
    for (const { cancelTimer } of this.#deliveries.values()) cancelTimer?.();
    await this.#opening;
    const channels = new Set([...this.#deliveries.values()].map(({ channel }) => channel));
    if (this.#channel !== undefined) channels.add(this.#channel);
    await Promise.all([...channels].map((channel) => channel.close()));
  }

  /** Jobs that may run now, and how many became dead letters instead. */
  async claim(count: number, deliveriesMax: number): Promise<{ readonly jobs: TakenJob[]; readonly died: number }> {
    const jobs: TakenJob[] = [];
    let died = 0;
    while (jobs.length < count && this.#mode === 'consuming') {
      const delivery = this.#buffer.shift();
      if (delivery === undefined) break;
      const handedOver = this.#handedOver(delivery);
      if (handedOver < deliveriesMax) {
        jobs.push(this.#take(delivery));
        continue;
      }
      const error = `handed over ${handedOver} times without an end; last error: ${delivery.memory.error ?? 'none'}`;
      // It is not handed over this time.
      delivery.memory.unsent++;
      if (await this.#bury(delivery, { reason: 'poison', error })) died++;
    }
    return { jobs, died };
  }

  /**
   * Whether this is still the current hand-over: it ends with its channel, and RabbitMQ then hands the job out again.
   */
  isClaimed({ seq, token }: Pick<TakenJob, 'seq' | 'token'>): boolean {
    const delivery = this.#deliveries.get(seq);
    return delivery?.state === 'claimed' && delivery.token === token;
  }

  /** Durable when it resolves. `stale`: the outcome of another hand-over. */
  async settle(outcome: SettledJob): Promise<'settled' | 'stale' | 'died'> {
    const delivery = this.#deliveries.get(outcome.seq);
    if (delivery === undefined || !this.isClaimed(outcome)) return 'stale';
    const { how, afterMs, error, reason, isUnsent } = outcome;
    const { memory } = delivery;
    if (error !== undefined) memory.error = error;
    if (how === 'retry' || how === 'dead') {
      memory.attempts++;
      memory.firstFailedMs ??= this.#options.clock.nowMs();
    }
    // The count of a moved message restarts; RabbitMQ counts one that is returned or keeps its place.
    if (isUnsent === true && (how !== 'release' || afterMs !== undefined) && !this.#options.isFifo) memory.unsent++;
    if (how === 'done') this.#acknowledge(delivery);
    else if (how === 'dead') {
      return (await this.#bury(delivery, { reason: reason ?? 'failed', error: error ?? '' })) ? 'died' : 'settled';
    } else if (how === 'retry') await this.#wait(delivery, 'retrying', afterMs ?? 0);
    else if (how === 'park') await this.#park(delivery);
    else if (afterMs !== undefined) await this.#wait(delivery, 'delayed', afterMs);
    else this.#requeue(delivery, isUnsent === true);
    return 'settled';
  }

  /** Held jobs of the function may run. */
  wake(functionId: string): number {
    const parked = [...this.#deliveries.values()].filter(
      ({ state, memory, message }) =>
        state === 'held' && memory.word === 'parked' && message.job.facts.functionId === functionId,
    );
    for (const delivery of parked) this.#ready(delivery);
    return parked.length;
  }

  #consume(): void {
    if (this.#mode !== 'consuming' || this.#opening !== undefined || this.#channel !== undefined) return;
    this.#opening = this.#open().finally(() => {
      this.#opening = undefined;
    });
  }

  async #open(): Promise<void> {
    const { queue, isFifo, prefetch, link, topology } = this.#options;
    try {
      await topology.ensureQueue(queue, isFifo);
      const channel = await link.channel();
      channel.onClose(() => this.#lost(channel));
      // The broker ended the consumer: its queue moved or was removed.
      channel.onCancel(() => void channel.close());
      await channel.basicQos(prefetch);
      const work = topology.names.work(queue);
      await channel.basicConsume(work, CONSUMER_TAG, (message) => this.#receive(channel, message));
      // A channel that opened after the queue was paused, or after the engine ended, is not closed elsewhere.
      if (this.#mode === 'consuming') this.#channel = channel;
      else await channel.close();
    } catch {
      this.#consumeLater();
    }
  }

  #consumeLater(): void {
    this.#options.clock.after(AGAIN_MS, () => this.#consume());
  }

  #lost(channel: RabbitChannel): void {
    for (const delivery of this.#deliveries.values()) if (delivery.channel === channel) this.#forget(delivery);
    if (this.#channel === channel) this.#channel = undefined;
    if (this.#mode === 'consuming') this.#consumeLater();
  }

  #receive(channel: RabbitChannel, raw: RabbitMessage): void {
    const message = readMessage(raw);
    // Deliveries of the ended channel come again, and count as handed over.
    if (!channel.active) {
      if (message !== undefined) this.#remembered.keepLost(message.job, 'buffered');
      return;
    }
    if (message === undefined) {
      this.#options.logger.error('A message that is not a job was set aside', { queue: this.#options.queue });
      channel.basicNack({ deliveryTag: raw.deliveryTag, requeue: false });
      return;
    }
    const memory = this.#remembered.of(message.job);
    const delivery: Delivery = { seq: ++this.#lastNumber, channel, message, memory, token: 0, state: 'buffered' };
    this.#deliveries.set(delivery.seq, delivery);
    // It was on its way when the queue was paused.
    if (this.#mode !== 'consuming') this.#requeue(delivery, true);
    else if (memory.untilMs === undefined) this.#ready(delivery);
    else this.#hold(delivery);
  }

  #take(delivery: Delivery): TakenJob {
    delivery.state = 'claimed';
    delivery.token = ++this.#lastNumber;
    const { job, payload } = delivery.message;
    return {
      seq: delivery.seq,
      token: delivery.token,
      attempt: delivery.memory.attempts + 1,
      id: job.id,
      enqueuedMs: job.enqueuedMs,
      facts: job.facts,
      at: 0,
      bytes: payload.length,
      payload,
    };
  }

  #ready(delivery: Delivery): void {
    delivery.cancelTimer?.();
    delivery.memory.untilMs = undefined;
    delivery.state = 'buffered';
    this.#buffer.push(delivery);
    this.#options.changed();
  }

  /** In a FIFO queue the job keeps its place; in a standard queue it is removed and published again. */
  async #wait(delivery: Delivery, word: 'retrying' | 'delayed', afterMs: number): Promise<void> {
    if (!this.#options.isFifo) {
      const { queue, mover } = this.#options;
      await this.#move(delivery, (job) => mover.later(queue, afterMs, encodeMessage(job, delivery.message.payload)));
      return;
    }
    delivery.memory.hold(word, this.#options.clock.monotonicMs() + afterMs);
    this.#hold(delivery);
  }

  async #park(delivery: Delivery): Promise<void> {
    const { queue, isFifo, unroutableTtlMs, mover, clock } = this.#options;
    if (!isFifo) {
      const { payload } = delivery.message;
      await this.#move(delivery, (job) => mover.parked(queue, unroutableTtlMs, encodeMessage(job, payload)));
      return;
    }
    delivery.memory.hold('parked', clock.monotonicMs() + unroutableTtlMs);
    this.#hold(delivery);
  }

  #hold(delivery: Delivery): void {
    const { clock, refreshMs } = this.#options;
    const { memory } = delivery;
    delivery.state = 'held';
    const leftMs = Math.max(0, (memory.untilMs ?? 0) - clock.monotonicMs());
    const isOver = leftMs <= refreshMs;
    delivery.cancelTimer = clock.after(Math.min(leftMs, refreshMs), () => {
      if (!isOver) this.#requeue(delivery, true);
      else if (memory.word !== 'parked') this.#ready(delivery);
      else void this.#bury(delivery, { reason: 'function_not_found', error: 'no worker offered the function in time' });
    });
  }

  async #bury(delivery: Delivery, death: Pick<BrokerJob, 'reason' | 'error'>): Promise<boolean> {
    const { queue, mover, clock } = this.#options;
    const { payload } = delivery.message;
    const diedMs = clock.nowMs();
    return await this.#move(delivery, (job) => mover.dead(queue, encodeMessage({ ...job, ...death, diedMs }, payload)));
  }

  /** The new message is confirmed before the old one is acknowledged. False: it could not be moved, and comes again. */
  async #move(delivery: Delivery, publish: (job: BrokerJob) => Promise<void>): Promise<boolean> {
    const { job } = delivery.message;
    const { attempts, error, firstFailedMs } = delivery.memory;
    delivery.state = 'held';
    try {
      await publish({
        ...job,
        attempts,
        deliveries: Math.max(0, delivery.message.deliveries - delivery.memory.unsent + 1),
        ...(error !== undefined && { error }),
        ...(firstFailedMs !== undefined && { firstFailedMs }),
      });
    } catch (reason) {
      this.#options.logger.warn('A job could not be moved and comes again', { error: String(reason) });
      this.#requeue(delivery, false);
      return false;
    }
    this.#acknowledge(delivery);
    return true;
  }

  /** Without those that never reached a worker. */
  #handedOver({ message, memory }: Delivery): number {
    return Math.max(0, message.deliveries - memory.unsent);
  }

  #acknowledge(delivery: Delivery): void {
    const { channel, message } = delivery;
    this.#forget(delivery);
    this.#remembered.forget(message.job.id);
    if (channel.active) channel.basicAck({ deliveryTag: message.deliveryTag });
    this.#endIdle(channel);
  }

  #requeue(delivery: Delivery, isUnsent: boolean): void {
    const { channel, message, memory } = delivery;
    if (isUnsent) memory.unsent++;
    this.#remembered.keep(message.job.id, memory);
    this.#forget(delivery);
    if (channel.active) channel.basicNack({ deliveryTag: message.deliveryTag, requeue: true });
    this.#endIdle(channel);
  }

  #forget(delivery: Delivery): void {
    delivery.cancelTimer?.();
    this.#deliveries.delete(delivery.seq);
    const at = this.#buffer.indexOf(delivery);
    if (at >= 0) this.#buffer.splice(at, 1);
    // A lost channel counts as a hand-over for RabbitMQ, even for jobs that no worker ever had.
    if (!delivery.channel.active) this.#remembered.keepLost(delivery.message.job, delivery.state, delivery.memory);
  }

  /** A channel from before a pause ends with its last delivery. */
  #endIdle(channel: RabbitChannel): void {
    if (channel === this.#channel || this.#mode === 'stopped') return;
    if ([...this.#deliveries.values()].some((delivery) => delivery.channel === channel)) return;
    void channel.close();
  }
}

/** One consumer for each channel. */
const CONSUMER_TAG = 'svc';
