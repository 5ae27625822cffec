// Queues of RabbitMQ read from their front: whoever looks for one message takes all before it, and gives back what
// stays.
//
// One inspection is made at a time, all on one channel: RabbitMQ carries out what comes by one channel in its order, so
// that what one inspection gave back is there for the next.
//
// How many messages there are is not asked: RabbitMQ answers 0 while they are being given back, or when it is busy. An
// inspection goes on until nothing comes any more. It keeps what it does not take until its end, so that nothing it
// kept comes twice; what it took and what came back, or came only after it began, it leaves where it is, or it would
// follow jobs that die and are redriven for ever.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { RabbitChannel } from '../../../../effects/rabbit-channel.ts';
import type { RabbitLink, RabbitMessage } from '../../../../effects/rabbitmq.ts';
import { type JobMessage, readMessage } from './message.ts';

/** Kept at once, oldest first: what stands behind is seen when these are gone. */
const KEPT_MAX = 10_000;
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** On their way elsewhere at once: a broker syncs them together, one by one each would wait for a sync of its own. */
const MOVING_MAX = 256;
const MOVING_BYTES_MAX = 16 * 1024 * 1024;

export interface Found {
  readonly raw: RabbitMessage;
  readonly message: JobMessage;
}

/** `taken`: it leaves the queue, unless it came after the inspection began. */
export type Verdict = 'kept' | 'taken' | 'kept, and enough' | 'taken, and enough';

export interface Inspection {
  readonly judge: (found: Found) => Verdict;
  /** What becomes of one that is taken. It leaves the queue only afterwards. */
  readonly move?: (found: Found) => Promise<void>;
}

export class Inspector {
  readonly #link: RabbitLink;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #channel: RabbitChannel | undefined;
  #line: Promise<unknown> = Promise.resolve();

  constructor(link: RabbitLink, clock: Pick<Clock, 'nowMs'>) {
    this.#link = link;
    this.#clock = clock;
  }

  /** Those that are there now, oldest first. Resolves with how many were taken. */
  async each(queue: string, inspection: Inspection): Promise<number> {
    const done = this.#line.catch(() => {}).then(() => this.#inspect(queue, inspection));
    this.#line = done;
    try {
      return await done;
    } catch (error) {
      // What was fetched goes back with the channel.
      await this.#channel?.close();
      throw this.#link.refusalOf(error);
    }
  }

  async close(): Promise<void> {
    await this.#channel?.close();
  }

  async #inspect(queue: string, { judge, move }: Inspection): Promise<number> {
    if (this.#channel?.active !== true) this.#channel = await this.#link.channel();
    const channel = this.#channel;
    const moves = new Moves(channel, move);
    const taken = new Set<string>();
    const beganMs = this.#clock.nowMs();
    const isLate = ({ job }: JobMessage): boolean => taken.has(job.id) || this.#cameSince(beganMs, job);
    let [kept, keptBytes] = [0, 0];
    while (kept < KEPT_MAX && keptBytes < KEPT_BYTES_MAX) {
      const raw = await channel.basicGet(queue);
      if (raw === undefined) break;
      const message = readMessage(raw);
      const verdict = message === undefined ? 'kept' : judge({ raw, message });
      const isOne = verdict === 'taken, and enough';
      if (message !== undefined && (isOne || (verdict === 'taken' && !isLate(message)))) {
        taken.add(message.job.id);
        await moves.add({ raw, message });
      } else {
        kept++;
        keptBytes += message?.payload.length ?? 0;
      }
      if (verdict.endsWith('enough')) break;
    }
    await moves.settled();
    // Zero stands for all that is unanswered.
    if (kept > 0) channel.basicNack({ deliveryTag: 0, multiple: true, requeue: true });
    return moves.count;
  }

  /** A time that is still to come was told by another clock, or before ours was set back, and says nothing. */
  #cameSince(beganMs: number, { diedMs, enqueuedMs }: BrokerJob): boolean {
    const cameMs = diedMs ?? enqueuedMs;
    return cameMs > beganMs && cameMs <= this.#clock.nowMs();
  }
}

/** Messages of one inspection that go elsewhere, many at a time. */
class Moves {
  count = 0;
  readonly #channel: RabbitChannel;
  readonly #move: Inspection['move'];
  #away: Promise<void>[] = [];
  #bytesAway = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(channel: RabbitChannel, move: Inspection['move']) {
    this.#channel = channel;
    this.#move = move;
  }

  async add(found: Found): Promise<void> {
    this.count++;
    this.#bytesAway += found.message.payload.length;
    this.#away.push(this.#take(found));
    if (this.#away.length >= MOVING_MAX || this.#bytesAway >= MOVING_BYTES_MAX) await this.settled();
  }

  /** Rejects with the first failure, when none is on its way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#away);
    this.#away = [];
    this.#bytesAway = 0;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #take(found: Found): Promise<void> {
    try {
      await this.#move?.(found);
      if (this.#channel.active) this.#channel.basicAck({ deliveryTag: found.raw.deliveryTag });
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}
