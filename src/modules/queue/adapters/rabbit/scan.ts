// Reads queues of RabbitMQ from their front: a search for one message takes all before it, and returns the rest.
//
// One inspection runs at a time, all on one channel: RabbitMQ processes the commands of one channel in order, so that
// the messages that one inspection returned are there for the next.
//
// The number of messages is not queried: RabbitMQ answers 0 while they are being returned, or when it is busy. An
// inspection continues until no message comes any more. It keeps what it does not take until its end, so that no kept
// message comes twice. It leaves taken messages that were returned, and those that came after it began: otherwise it
// would follow jobs that die and are redriven endlessly.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { RabbitChannel } from '../../../../effects/rabbit-channel.ts';
import type { RabbitLink, RabbitMessage } from '../../../../effects/rabbitmq.ts';
import { type JobMessage, readMessage } from './messages.ts';

/** Kept at once, oldest first: later messages are seen when these are gone. */
const KEPT_MAX = 10_000;
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** The limit of concurrent moves: a broker syncs them together; one by one each would wait for a sync of its own. */
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
  /** Moves a taken message. It leaves the queue only afterwards. */
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

  /** Inspects the messages that are there now, oldest first. Resolves with how many were taken. */
  async each(queue: string, inspection: Inspection): Promise<number> {
    const done = this.#line.catch(() => {}).then(() => this.#inspect(queue, inspection));
    this.#line = done;
    try {
      return await done;
    } catch (error) {
      // Fetched messages go back with the channel.
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

  /** A time in the future was set by another clock, or before ours was set back, and is ignored. */
  #cameSince(beganMs: number, { diedMs, enqueuedMs }: BrokerJob): boolean {
    const cameMs = diedMs ?? enqueuedMs;
    return cameMs > beganMs && cameMs <= this.#clock.nowMs();
  }
}

/** The messages of one inspection that move elsewhere, many at a time. */
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

  /** Rejects with the first failure, after all moves have ended. */
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
