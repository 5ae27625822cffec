// The channels that one connection of a restricted port may have: how many at a time, how many new ones per second, and
// how many bytes held in all of them.
//
// Neighbours: `router/channels/channels.ts` creates channels and limits how many all such connections have together.
// Invariants:
//   - A channel counts until it is over, also when the connection that created it has left: both of its ends are taken
//     then.
//   - A share that ended takes no further channel: nothing would end it.

import { Refusal } from '../calls/refusal.ts';
import { ByteBudget } from '../limits/byte-budget.ts';
import { MessageRate } from '../limits/message-rate.ts';
import type { Channel } from './channel.ts';

export interface ChannelShareLimits {
  readonly channelsMax: number;
  /** Held for readers, in memory and in files. */
  readonly bytesMax: number;
  /** New ones per second, which is also the burst. */
  readonly perSecondMax: number;
}

export class ChannelShare {
  readonly limits: ChannelShareLimits;
  readonly bytes: ByteBudget;
  readonly channels = new Set<Channel>();
  readonly #rate: MessageRate;
  #isOver = false;

  constructor(limits: ChannelShareLimits, nowMs: number) {
    this.limits = limits;
    this.bytes = new ByteBudget(limits.bytesMax);
    this.#rate = new MessageRate({ perSecond: limits.perSecondMax, burst: limits.perSecondMax }, nowMs);
  }

  /** The connection is gone. */
  end(): void {
    this.#isOver = true;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What a writer that keeps to credit may send ahead, so that all channels of the share have room for theirs. */
  get windowBytes(): number {
    return Math.max(1, Math.floor(this.limits.bytesMax / this.limits.channelsMax));
  }

  /** Why it may have no further one, at any time. */
  get refusal(): Refusal | undefined {
    const { channelsMax } = this.limits;
    if (this.channels.size < channelsMax) return undefined;
    return new Refusal('OVERLOADED', `This connection is at its limit of ${channelsMax} channels (${COUNT_LIMIT})`);
  }

  /** Counts one more channel. Returns why it is refused. */
  charge(nowMs: number): Refusal | undefined {
    if (this.#rate.take(nowMs) === 'ok') return undefined;
    const text = `This connection creates more than ${this.limits.perSecondMax} channels per second (${RATE_LIMIT})`;
    return new Refusal('RATE_LIMITED', text);
  }
}

const COUNT_LIMIT = 'limits.browser.channels';
const RATE_LIMIT = 'limits.browser.channels_per_second';
