// The queues and exchanges of the adapter in its broker, declared when they are first needed.
//
//   work   jobs that may run; delivered too often, they go to `dead`
//   parked jobs whose function no worker offers; when their time is over they go to `dead`
//   dead   dead letters
// All are quorum queues, and the broker moves messages by itself at least once.
//
// Waiting uses a ladder of queues whose messages live 64 ms, 128 ms, 256 ms … A message carries the length of its wait
// in binary, one word of its routing key for each rung. It stops at the rungs whose word is 1, falls from rung to rung
// when its time there is over, and from the last one into its queue. So any wait is exact to within one rung.

import { createHash } from 'node:crypto';
import type { Clock } from '../../../../effects/clock.ts';
import type { RabbitChannel } from '../../../../effects/rabbit-channel.ts';
import type { RabbitLink } from '../../../../effects/rabbitmq.ts';

/** Of the lowest rung. */
const RUNG_MS = 64;
/** The highest waits for half a year: together they hold a year. */
export const RUNGS = 29;
/** The longest wait there is. */
export const WAIT_MS_MAX = RUNG_MS * (2 ** RUNGS - 1);
/**
 * More than any number of hand-overs that a configuration can set: the engine counts them itself, and this is the
 * safety net. The limit of an existing queue cannot be changed.
 */
const DELIVERY_LIMIT = 106;
/** RabbitMQ answers 0 when a queue has not reported its number of messages within 250 ms: it is queried again. */
const UNSURE_MS = 200;
const ASKED_MAX = 10;
/** Queues of topics come and go with ever new names; declaring one again changes nothing. */
const DECLARED_MAX = 10_000;
const AT_LEAST_ONCE = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };

export interface QueueCountsOfBroker {
  readonly work: number;
  readonly parked: number;
  readonly dead: number;
}

export class Topology {
  readonly names: BrokerNames;
  readonly #link: RabbitLink;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Declared on this connection or an earlier one of this link, by their work queue. */
  readonly #queues = new Map<string, Promise<void>>();
  #rungs = -1;
  #rising: Promise<void> = Promise.resolve();

  constructor(link: RabbitLink, names: BrokerNames, clock: Pick<Clock, 'monotonicMs'>) {
    this.#link = link;
    this.#clock = clock;
    this.names = names;
  }

  /** The broker may have lost everything while it was away: all is declared again when it is needed. */
  forget(): void {
    this.#queues.clear();
    this.#rungs = -1;
  }

  /** One consumer at a time works on a FIFO queue, so that no job overtakes another (F1). */
  ensureQueue(queue: string, isFifo: boolean): Promise<void> {
    const known = this.#queues.get(queue);
    if (known !== undefined) return known;
    if (this.#queues.size >= DECLARED_MAX) this.#queues.clear();
    const declared = this.#link.use((channel) => this.#declare(channel, queue, isFifo));
    this.#queues.set(queue, declared);
    declared.catch(() => this.#queues.delete(queue));
    return declared;
  }

  /** Removes an empty queue that is to be of another kind. */
  async remove(queue: string): Promise<void> {
    await this.#link.use((channel) => channel.queueDelete(this.names.work(queue)));
    this.#queues.delete(queue);
  }

  /** Declares the rungs up to this one. */
  async ensureRungs(highest: number): Promise<void> {
    if (highest <= this.#rungs) return;
    this.#rising = this.#rising
      .catch(() => {})
      .then(async () => {
        if (highest <= this.#rungs) return;
        await this.#link.use(async (channel) => {
          for (let index = this.#rungs + 1; index <= highest; index++) await this.#declareRung(channel, index);
        });
        this.#rungs = highest;
      });
    await this.#rising;
  }

  async counts(queue: string): Promise<QueueCountsOfBroker> {
    const { work, parked, dead } = this.#namesOf(queue);
    return await this.#link.use(async (channel) => ({
      work: await this.#messagesIn(channel, work),
      parked: await this.#messagesIn(channel, parked),
      dead: await this.#messagesIn(channel, dead),
    }));
  }

  /** Engines that work on the queue. */
  async consumers(queue: string): Promise<number> {
    const { work } = this.#namesOf(queue);
    return await this.#link.use(async (channel) => (await this.#look(channel, work)).consumerCount);
  }

  async #messagesIn(channel: RabbitChannel, queue: string): Promise<number> {
    return (await this.#look(channel, queue)).messageCount;
  }

  /** The numbers of undelivered messages and of consumers. */
  async #look(channel: RabbitChannel, queue: string) {
    for (let asked = 1; ; asked++) {
      const beganMs = this.#clock.monotonicMs();
      const counts = await channel.queueDeclare({ queue, passive: true });
      const isNothing = counts.messageCount + counts.consumerCount === 0;
      const isSure = !isNothing || this.#clock.monotonicMs() - beganMs < UNSURE_MS;
      if (isSure || asked === ASKED_MAX) return counts;
    }
  }

  #namesOf(queue: string) {
    return { work: this.names.work(queue), parked: this.names.parked(queue), dead: this.names.dead(queue) };
  }

  async #declare(channel: RabbitChannel, queue: string, isFifo: boolean): Promise<void> {
    const { work, parked, dead } = this.#namesOf(queue);
    const due = this.names.rung(-1);
    const toDead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead, ...AT_LEAST_ONCE };
    await declareQuorum(channel, dead, {});
    await declareQuorum(channel, parked, toDead);
    const single = isFifo ? { 'x-single-active-consumer': true } : {};
    await declareQuorum(channel, work, { 'x-delivery-limit': DELIVERY_LIMIT, ...single, ...toDead });
    await channel.exchangeDeclare({ exchange: due, type: 'topic', durable: true });
    await channel.queueBind({ queue: work, exchange: due, routingKey: BrokerNames.duePattern(queue) });
  }

  async #declareRung(channel: RabbitChannel, index: number): Promise<void> {
    const [name, below] = [this.names.rung(index), this.names.rung(index - 1)];
    await channel.exchangeDeclare({ exchange: name, type: 'topic', durable: true });
    const timeMs = RUNG_MS * 2 ** index;
    await declareQuorum(channel, name, {
      'x-message-ttl': timeMs,
      'x-dead-letter-exchange': below,
      ...AT_LEAST_ONCE,
    });
    await channel.queueBind({ queue: name, exchange: name, routingKey: BrokerNames.rungPattern(index, '1') });
    await channel.exchangeBind({
      destination: below,
      source: name,
      routingKey: BrokerNames.rungPattern(index, '0'),
    });
  }
}

export async function declareQuorum(channel: RabbitChannel, queue: string, args: object): Promise<void> {
  await channel.queueDeclare({ queue, durable: true, arguments: { 'x-queue-type': 'quorum', ...args } });
}

const READABLE_MAX = 120;

export class BrokerNames {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  work(queue: string): string {
    return `${this.#prefix}.work.${wordOf(queue)}`;
  }

  /** Jobs that wait for a worker with their function. */
  parked(queue: string): string {
    return `${this.#prefix}.parked.${wordOf(queue)}`;
  }

  dead(queue: string): string {
    return `${this.#prefix}.dead.${wordOf(queue)}`;
  }

  /** Holds the queues, their kinds and subscriptions. */
  get registry(): string {
    return `${this.#prefix}.book`;
  }

  /** Exchange and queue of one rung; below the lowest one: the exchange that leads into the queues. */
  rung(index: number): string {
    return index < 0 ? `${this.#prefix}.due` : `${this.#prefix}.wait.${index}`;
  }

  /** Where a message begins its wait, which is never shorter than requested. */
  wait(queue: string, delayMs: number): { readonly rung: number; readonly routingKey: string } {
    const units = Math.min(2 ** RUNGS - 1, Math.max(1, Math.ceil(delayMs / RUNG_MS)));
    const bits = units.toString(2).padStart(RUNGS, '0');
    return { rung: RUNGS - 1 - bits.indexOf('1'), routingKey: `${[...bits].join('.')}.${wordOf(queue)}` };
  }

  /** Which messages a rung keeps (`1`) and which it passes on (`0`). */
  static rungPattern(index: number, bit: '0' | '1'): string {
    return [...Array.from({ length: RUNGS - 1 - index }, () => '*'), bit, '#'].join('.');
  }

  static duePattern(queue: string): string {
    return `#.${wordOf(queue)}`;
  }
}

/** One word of a routing key, always the same for the same queue; readable if it is short enough. */
function wordOf(queue: string): string {
  const safe = encodeURIComponent(queue).replaceAll('.', '%2E').replaceAll('*', '%2A');
  if (safe.length <= READABLE_MAX) return safe;
  return `${safe.slice(0, READABLE_MAX)}~${createHash('sha256').update(queue).digest('hex').slice(0, 20)}`;
}
