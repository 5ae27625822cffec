// Data channels (wire 7): pipes for bytes and text beside the calls, from one connection to another.
//
// Job: make channels, find them again for whoever knows id and key, and drop those that are never used.
// Neighbours: `router/channel-pipe.ts` is one channel at work; the module of the worker ports brings connections,
// the engine's own module offers `engine::channels::create`.
// Time limits: `core/channel.ts` says when a channel is overdue, this file looks once a minute. No liveness limit holds
// for connections of channels: some clients cannot answer a ping while they write (wire 1.6).
// Invariants:
//   N1  A channel belongs to nobody: it outlives the connection that asked for it (decisions 52).
//   N2  Timers run only while there is something to look at, and nothing is left after `stop`.
//   N3  Keys are compared in constant time and appear in no log line (X22).

import { ByteBudget } from '../core/byte-budget.ts';
import { Channel, clampBufferSize, type Direction, UNTAKEN_MS_MAX } from '../core/channel.ts';
import type { Counters } from '../core/counters.ts';
import { Refusal } from '../core/refusal.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import { equalSecrets, type Random } from '../effects/random.ts';
import type { OpenSpillFile } from '../effects/spill-file.ts';
import { CLOSE_CODES } from '../protocol/close-codes.ts';
import type { PeerSocket, SocketEvents } from '../transport/socket.ts';
import { ChannelPipe, type ChannelTrouble } from './channel-pipe.ts';

export interface ChannelSettings {
  readonly channelsMax: number;
  /** Held in memory, of one channel and of all. */
  readonly bufferBytesMax: number;
  readonly buffersBytesMax: number;
  /** Held in files, of one channel and of all. */
  readonly spillBytesMax: number;
  readonly spillsBytesMax: number;
}

export interface ChannelsParts {
  readonly settings: ChannelSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly openSpillFile: OpenSpillFile;
}

/** One end as it is passed around: whoever has it may connect to that end, once. */
export interface ChannelRef {
  readonly channel_id: string;
  readonly access_key: string;
  readonly direction: Direction;
}

export interface EndConnection {
  readonly id: string;
  readonly direction: Direction;
  readonly socket: PeerSocket;
  /** It asked for `svc.channel.v1`. */
  readonly keepsToCredit: boolean;
}

/**
 * A channel that exists on paper: references to one end are out, and it is made when somebody takes that end. The other
 * end belongs to the engine itself.
 */
export interface OfferedChannel {
  readonly key: string;
  /** The channel was made: connects the engine's end. */
  accepted(pipe: ChannelPipe): void;
}

export type FindOffer = (id: string) => OfferedChannel | undefined;

export class Channels {
  #findOffer: FindOffer = () => undefined;
  readonly #parts: ChannelsParts;
  readonly #memoryBudget: ByteBudget;
  readonly #fileBudget: ByteBudget;
  readonly #pipes = new Map<string, ChannelPipe>();
  #stopExpiry: (() => void) | undefined;

  constructor(parts: ChannelsParts) {
    this.#parts = parts;
    this.#memoryBudget = new ByteBudget(parts.settings.buffersBytesMax);
    this.#fileBudget = new ByteBudget(parts.settings.spillsBytesMax);
  }

  /** Where channels are looked for that exist on paper only. One part of the engine may offer some. */
  offerBy(find: FindOffer): void {
    this.#findOffer = find;
  }

  /** Makes a channel; `bufferSize` in frames. */
  create(bufferSize: number | null | undefined): { readonly writer: ChannelRef; readonly reader: ChannelRef } {
    const { settings, random, clock } = this.#parts;
    if (this.#pipes.size >= settings.channelsMax) {
      this.#parts.counters.count('channels.refused', 'too_many');
      throw new Refusal('OVERLOADED', `There are ${this.#pipes.size} channels already (limits.engine.channels)`);
    }
    const [id, key] = [random.uuid(), random.uuid()];
    this.#open(id, key, bufferSize);
    this.#stopExpiry ??= clock.every(EXPIRY_CHECK_MS, () => this.#dropOverdue());
    const ref = { channel_id: id, access_key: key };
    return { writer: { ...ref, direction: 'write' }, reader: { ...ref, direction: 'read' } };
  }

  /** Whether there is such a channel, and that is its key. */
  knows(id: string, key: string): boolean {
    const known = this.#pipes.get(id)?.channel.facts.key ?? this.#findOffer(id)?.key;
    return known !== undefined && equalSecrets(key, known);
  }

  /** Somebody who knows the key connected to an end. Returns what its transport has to call. */
  connect({ id, direction, socket, keepsToCredit }: EndConnection): SocketEvents {
    const pipe = this.#pipes.get(id) ?? this.#accept(id);
    if (pipe === undefined) {
      // It ended between the question whether it may connect and this.
      socket.close(CLOSE_CODES.otherEndGone, 'the channel has ended');
      return { message: () => {}, heard: () => {}, closed: () => {} };
    }
    return direction === 'write'
      ? pipe.connectWriter(socket, keepsToCredit)
      : pipe.connectReader(socket, keepsToCredit);
  }

  /** How many there are. */
  get count(): number {
    return this.#pipes.size;
  }

  /** Whether a reader is still being sent what its writer has left behind. */
  get isDelivering(): boolean {
    return [...this.#pipes.values()].some(({ channel }) => channel.isDelivering);
  }

  /** Says goodbye to every connection and forgets everything. */
  stop(): void {
    for (const pipe of [...this.#pipes.values()]) pipe.end(CLOSE_CODES.goingAway, 'the engine is shutting down');
    this.#stopExpiry?.();
    this.#stopExpiry = undefined;
  }

  #accept(id: string): ChannelPipe | undefined {
    const offer = this.#findOffer(id);
    if (offer === undefined) return undefined;
    const pipe = this.#open(id, offer.key, undefined);
    offer.accepted(pipe);
    return pipe;
  }

  #open(id: string, key: string, bufferSize: number | null | undefined): ChannelPipe {
    const { settings, clock } = this.#parts;
    const channel = new Channel(
      { id, key, framesMax: clampBufferSize(bufferSize), createdMs: clock.monotonicMs() },
      {
        memoryBytesMax: settings.bufferBytesMax,
        fileBytesMax: settings.spillBytesMax,
        memoryBudget: this.#memoryBudget,
        fileBudget: this.#fileBudget,
      },
    );
    const pipe = this.#createPipe(channel);
    this.#pipes.set(id, pipe);
    return pipe;
  }

  #createPipe(channel: Channel): ChannelPipe {
    const { settings, clock, openSpillFile } = this.#parts;
    const { id } = channel.facts;
    return new ChannelPipe(channel, {
      // What is on the way when the window is full, its last frame over the edge, still fits into memory.
      windowBytes: Math.floor(settings.bufferBytesMax / 2),
      fileBytesMax: settings.spillBytesMax,
      openSpillFile,
      clock,
      note: (what, detail) => this.#note(id, what, detail),
      ended: () => void this.#pipes.delete(id),
    });
  }

  #dropOverdue(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const pipe of [...this.#pipes.values()]) {
      if (!pipe.channel.isOverdue(nowMs)) continue;
      this.#note(pipe.channel.facts.id, 'never_taken');
      pipe.end(CLOSE_CODES.otherEndGone, `nobody took the other end within ${UNTAKEN_MS_MAX / 60_000} minutes`);
    }
    if (this.#pipes.size > 0) return;
    this.#stopExpiry?.();
    this.#stopExpiry = undefined;
  }

  #note(id: string, what: ChannelTrouble, detail: Readonly<Record<string, unknown>> = {}): void {
    const { counters, logger } = this.#parts;
    counters.count('channels.trouble', what);
    const text = TROUBLES[what];
    if (text !== undefined) logger.warn(text, { channel: id, ...detail });
  }
}

const EXPIRY_CHECK_MS = 60_000;

/** The lines for the log. What has none is a client's own decision, and counted only. */
const TROUBLES: Readonly<Record<ChannelTrouble, string | undefined>> = {
  end_taken: 'Channel connection closed: that end is taken already',
  never_taken: 'Channel dropped: one of its ends was never taken',
  buffer_full:
    'Channel writer closed: its reader is too slow, and no more may be kept. A writer with flow control would wait',
  spill_failed: 'Channel ended: what its reader had not taken could not be kept on disk',
  protocol_error: 'Channel reader closed: it sent something that is not credit',
  writer_lost: undefined,
  reader_left: undefined,
};
