// Data channels (wire 7): pipes for bytes and text next to the calls, from one connection to another.
//
// Job: create channels, find them by id and key, and drop those that are never used.
// Neighbours: `router/channels/channel-pipe.ts` is one channel at work; the module of the worker ports brings
// connections; the engine module offers `engine::channels::create`.
// Time limits: `core/channels/channel.ts` says when a channel is overdue, this file checks once a minute. No liveness
// limit holds for connections of channels: some clients cannot answer a ping while they write (wire 1.6).
// Invariants:
//   - A channel has no owner: it outlives the connection that asked for it (PD-52). Only a channel of a restricted
//     connection ends with that connection, unless both ends were taken.
//   - Timers run only while a channel exists, and none is left after `stop`.
//   - Keys are compared in constant time and appear in no log line (X22).
//   - Channels of restricted connections are never more than half of all, and hold no more than half of all bytes.

import type { Access } from '../../core/access/access.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { Channel, clampBufferSize, type Direction, UNTAKEN_MS_MAX } from '../../core/channels/channel.ts';
import type { ChannelShare } from '../../core/channels/channel-share.ts';
import { ByteBudget, JointBudget, type NamedBudget } from '../../core/limits/byte-budget.ts';
import type { SharedCount } from '../../core/limits/connection-counts.ts';
import { ProcessCounts } from '../../core/limits/process-counts.ts';
import type { Counters } from '../../core/registry/counters.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import { equalSecrets, type Random } from '../../effects/random.ts';
import type { OpenSpillFile } from '../../effects/spill-file.ts';
import type { Credit } from '../../protocol/frames/channel-credit.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { SocketEvents } from '../../transport/socket.ts';
import { ChannelPipe, type ChannelTrouble, type EndSocket } from './channel-pipe.ts';

export interface ChannelSettings {
  readonly channelsMax: number;
  /** Held in memory, of one channel and of all. */
  readonly bufferBytesMax: number;
  readonly buffersBytesMax: number;
  /** Held in files, of one channel and of all. */
  readonly spillBytesMax: number;
  readonly spillsBytesMax: number;
}

export interface ChannelsOptions {
  readonly settings: ChannelSettings;
  /** What the ids of this engine's channels end with, where other engines pass their ends on. */
  readonly home: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly openSpillFile: OpenSpillFile;
  /** What all routers of the process have. */
  readonly counts?: ProcessCounts;
}

/** One end as it is passed around: a client that has it may connect to that end, once. */
export interface ChannelRef {
  readonly channel_id: string;
  readonly access_key: string;
  readonly direction: Direction;
}

export interface EndConnection {
  readonly id: string;
  readonly key: string;
  readonly direction: Direction;
  readonly socket: EndSocket;
  /** It asked for `svc.channel.v1`. */
  readonly keepsToCredit: boolean;
  /** Of a reader. */
  readonly firstCredit?: Credit;
  /** Of a restricted port: what is kept for a channel of another engine counts towards it. */
  readonly share?: ChannelShare | undefined;
}

/** Another engine, which has channels of its own. */
export interface ChannelHome {
  readonly isUp: boolean;
  /** `pipe`: from a client of this engine to the channel there, or back. */
  passOn(end: Pick<EndConnection, 'id' | 'key' | 'direction'>, pipe: ChannelPipe): void;
}

/**
 * A channel that is offered but not created yet: references to one end exist, and the channel is created when a client
 * takes that end. The other end belongs to the engine itself.
 */
export interface OfferedChannel {
  readonly key: string;
  /** The share that the bytes kept in it count towards, where a restricted connection answers for them. */
  readonly share: ChannelShare | undefined;
  /** The channel was created: connects the engine's end. */
  accepted(pipe: ChannelPipe): void;
}

export type FindOffer = (id: string) => OfferedChannel | undefined;

export class Channels {
  #findOffer: FindOffer = () => undefined;
  readonly #options: ChannelsOptions;
  /** Of all routers. */
  readonly #shared: SharedCount;
  readonly #sharedRestricted: SharedCount;
  readonly #allMemory: NamedBudget;
  readonly #allFiles: NamedBudget;
  /** The shares of these that restricted connections may use together. */
  readonly #restrictedMemory: NamedBudget;
  readonly #restrictedFiles: NamedBudget;
  readonly #pipes = new Map<string, ChannelPipe>();
  /** Other engines, by what the ids of their channels end with. */
  readonly #homes = new Map<string, ChannelHome>();
  /** Between a client of this engine and a channel of another one. */
  readonly #passing = new Set<ChannelPipe>();
  /** How many channels restricted connections created. */
  #restrictedCount = 0;
  #stopExpiry: (() => void) | undefined;

  constructor(options: ChannelsOptions) {
    this.#options = options;
    const { counts = new ProcessCounts() } = options;
    const { buffersBytesMax: memory, spillsBytesMax: files } = options.settings;
    this.#shared = counts.of('channels');
    this.#sharedRestricted = counts.of('restricted channels');
    const budgetOf = (name: string, bytesMax: number, kind: Parameters<typeof counts.bytesOf>[0]): NamedBudget => {
      return { name, budget: new ByteBudget(bytesMax, counts.bytesOf(kind)) };
    };
    this.#allMemory = budgetOf(MEMORY_LIMIT, memory, 'channels in memory');
    this.#allFiles = budgetOf(FILES_LIMIT, files, 'channels in files');
    this.#restrictedMemory = budgetOf(`half of ${MEMORY_LIMIT}`, half(memory), 'restricted channels in memory');
    this.#restrictedFiles = budgetOf(`half of ${FILES_LIMIT}`, half(files), 'restricted channels in files');
  }

  /** Looks up channels that are offered but not created yet. One part of the engine may offer some. */
  offerBy(find: FindOffer): void {
    this.#findOffer = find;
  }

  /** Creates a channel; `bufferSize` in frames. Without `rights` the caller is trusted. */
  create(
    bufferSize: number | null | undefined,
    rights?: Pick<Access, 'channelShare'>,
  ): { readonly writer: ChannelRef; readonly reader: ChannelRef } {
    const { random, clock } = this.#options;
    const share = rights && this.#shareOf(rights);
    if (this.#isFull) this.#refuse('too_many', new Refusal('OVERLOADED', fullText(this.#countOfAll)));
    const tooFast = share?.charge(clock.monotonicMs());
    if (tooFast !== undefined) this.#refuse('per_second', tooFast);
    const { home } = this.#options;
    const [id, key] = [home === undefined ? random.uuid() : `${random.uuid()}-${home}`, random.uuid()];
    const { channel } = this.#open(id, key, bufferSize, share);
    if (share !== undefined) {
      share.channels.add(channel);
      this.#noteRestricted(1);
    }
    this.#stopExpiry ??= clock.every(EXPIRY_CHECK_MS, () => this.#dropOverdue());
    const ref = { channel_id: id, access_key: key };
    return { writer: { ...ref, direction: 'write' }, reader: { ...ref, direction: 'read' } };
  }

  /** Whether this engine has the channel, and it has that key. */
  has(id: string, key: string): boolean {
    const known = this.#pipes.get(id)?.channel.details.key ?? this.#findOffer(id)?.key;
    return known !== undefined && equalSecrets(key, known);
  }

  /** The same for a client that asks for an end. A channel of another engine is judged there. */
  mayConnect(id: string, key: string): boolean {
    return this.has(id, key) || this.#homeOf(id)?.isUp === true;
  }

  /** A client connected to an end that it may have. Returns what its transport has to call. */
  connect(end: EndConnection): SocketEvents {
    const pipe = this.#pipes.get(end.id) ?? this.#accept(end.id);
    if (pipe !== undefined) return connectTo(pipe, end);
    const home = this.#homeOf(end.id);
    if (home?.isUp === true) return this.#passOn(home, end);
    // The channel ended after the check whether the client may connect.
    return turnAway(end.socket, CLOSE_CODES.otherEndGone, 'the channel has ended');
  }

  /** What the ids of this engine's channels end with. */
  get home(): string | undefined {
    return this.#options.home;
  }

  /** Ends of channels whose ids end so lie on that engine, until the returned function is called. */
  addHome(suffix: string, home: ChannelHome): () => void {
    this.#homes.set(suffix, home);
    return () => {
      if (this.#homes.get(suffix) === home) this.#homes.delete(suffix);
    };
  }

  /** The number of channels, and of ends that it passes on. */
  get count(): number {
    return this.#pipes.size + this.#passing.size;
  }

  /** Whether a reader is still being sent frames of a writer that has left. */
  get isDelivering(): boolean {
    return this.#all().some(({ channel }) => channel.isDelivering);
  }

  /** A restricted connection ended: no client is left that could pass on the untaken ends of its channels. */
  makerLeft(share: ChannelShare): void {
    share.end();
    for (const channel of [...share.channels]) {
      if (!channel.isUntaken) continue;
      this.#note(channel.details.id, 'maker_left');
      this.#pipes.get(channel.details.id)?.end(CLOSE_CODES.otherEndGone, 'the connection that made the channel ended');
    }
  }

  /** Closes every connection and forgets all channels. */
  stop(): void {
    for (const pipe of this.#all()) pipe.end(CLOSE_CODES.goingAway, 'the engine is shutting down');
    this.#stopExpiry?.();
    this.#stopExpiry = undefined;
  }

  /** The limits of a restricted connection's channel. Throws if it may have no further channel. */
  #shareOf({ channelShare }: Pick<Access, 'channelShare'>): ChannelShare {
    if (channelShare === undefined || channelShare.isOver) {
      const text = 'Only an open connection creates channels: jobs and triggers of restricted ports do not';
      return this.#refuse('no_connection', new Refusal('FORBIDDEN', text));
    }
    const { refusal } = channelShare;
    if (refusal !== undefined) return this.#refuse('per_connection', refusal);
    const restricted = this.#restrictedCount + this.#sharedRestricted.elsewhere;
    if (restricted < half(this.#options.settings.channelsMax)) return channelShare;
    const text =
      `Connections of restricted ports have ${restricted} channels together, half of ` +
      'limits.engine.channels; ' +
      'the others are for trusted callers';
    return this.#refuse('reserved', new Refusal('OVERLOADED', text));
  }

  #refuse(reason: string, refusal: Refusal): never {
    this.#options.counters.count('channels.refused', reason);
    throw refusal;
  }

  #all(): ChannelPipe[] {
    return [...this.#pipes.values(), ...this.#passing];
  }

  get #isFull(): boolean {
    return this.#countOfAll >= this.#options.settings.channelsMax;
  }

  get #countOfAll(): number {
    return this.#pipes.size + this.#shared.elsewhere;
  }

  #noteRestricted(change: 1 | -1): void {
    this.#restrictedCount += change;
    this.#sharedRestricted.note(this.#restrictedCount);
  }

  #homeOf(id: string): ChannelHome | undefined {
    return this.#homes.get(id.slice(-HOME_CHARS));
  }

  #passOn(home: ChannelHome, end: EndConnection): SocketEvents {
    const { id, key, direction } = end;
    if (this.count >= this.#options.settings.channelsMax) {
      this.#options.counters.count('channels.refused', 'too_many');
      return turnAway(end.socket, CLOSE_CODES.tryAgainLater, fullText(this.count));
    }
    const channel = this.#newChannel(id, key, undefined, end.share);
    const pipe = this.#createPipe(channel, undefined, () => this.#passing.delete(pipe));
    this.#passing.add(pipe);
    const events = connectTo(pipe, end);
    home.passOn({ id, key, direction }, pipe);
    return events;
  }

  #accept(id: string): ChannelPipe | undefined {
    const offer = this.#findOffer(id);
    if (offer === undefined) return undefined;
    const pipe = this.#open(id, offer.key, undefined, offer.share);
    offer.accepted(pipe);
    return pipe;
  }

  #open(id: string, key: string, bufferSize: number | null | undefined, share: ChannelShare | undefined): ChannelPipe {
    const channel = this.#newChannel(id, key, bufferSize, share);
    const pipe = this.#createPipe(channel, share, () => {
      this.#pipes.delete(id);
      this.#shared.note(this.#pipes.size);
      if (share?.channels.delete(channel) === true) this.#noteRestricted(-1);
    });
    this.#pipes.set(id, pipe);
    this.#shared.note(this.#pipes.size);
    return pipe;
  }

  #newChannel(
    id: string,
    key: string,
    bufferSize: number | null | undefined,
    share: ChannelShare | undefined,
  ): Channel {
    const { settings, clock } = this.#options;
    const own = share && [{ name: 'limits.browser.channel_bytes', budget: share.bytes }];
    return new Channel(
      { id, key, framesMax: clampBufferSize(bufferSize), createdMs: clock.monotonicMs() },
      {
        memoryBytesMax: settings.bufferBytesMax,
        fileBytesMax: settings.spillBytesMax,
        memoryBudget: new JointBudget(own ? [...own, this.#restrictedMemory, this.#allMemory] : [this.#allMemory]),
        fileBudget: new JointBudget(own ? [...own, this.#restrictedFiles, this.#allFiles] : [this.#allFiles]),
      },
    );
  }

  #createPipe(channel: Channel, share: ChannelShare | undefined, ended: () => void): ChannelPipe {
    const { settings, clock, openSpillFile } = this.#options;
    const { id } = channel.details;
    return new ChannelPipe(channel, {
      // Frames in transit when the window is full, including the last one over the edge, still fit into memory. For a
      // connection with a share, the window is what fits for each of its channels.
      windowBytes: Math.min(half(settings.bufferBytesMax), share?.windowBytes ?? Number.POSITIVE_INFINITY),
      fileBytesMax: settings.spillBytesMax,
      openSpillFile,
      clock,
      note: (what, detail) => this.#note(id, what, detail),
      ended,
    });
  }

  #dropOverdue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const pipe of [...this.#pipes.values()]) {
      if (!pipe.channel.isOverdue(nowMs)) continue;
      this.#note(pipe.channel.details.id, 'never_taken');
      pipe.end(CLOSE_CODES.otherEndGone, `no client took the other end within ${UNTAKEN_MS_MAX / 60_000} minutes`);
    }
    if (this.#pipes.size > 0) return;
    this.#stopExpiry?.();
    this.#stopExpiry = undefined;
  }

  #note(id: string, what: ChannelTrouble, detail: Readonly<Record<string, unknown>> = {}): void {
    const { counters, logger } = this.#options;
    counters.count('channels.trouble', what);
    const text = TROUBLES[what];
    if (text !== undefined) logger.warn(text, { channel: id, ...detail });
  }
}

function connectTo(pipe: ChannelPipe, { direction, socket, keepsToCredit, firstCredit }: EndConnection): SocketEvents {
  return direction === 'write'
    ? pipe.connectWriter(socket, keepsToCredit)
    : pipe.connectReader(socket, keepsToCredit, firstCredit);
}

function turnAway(socket: EndSocket, code: number, reason: string): SocketEvents {
  socket.close(code, reason);
  return { message: () => {}, heard: () => {}, closed: () => {} };
}

function fullText(count: number): string {
  return `There are ${count} channels already (limits.engine.channels)`;
}

function half(all: number): number {
  return Math.floor(all / 2);
}

/** A UUID. */
const HOME_CHARS = 36;
const MEMORY_LIMIT = 'limits.engine.channel_buffers_bytes';
const FILES_LIMIT = 'limits.engine.channel_spills_bytes';
const EXPIRY_CHECK_MS = 60_000;

/** The lines for the log. A cause without one is the client's own decision, and only counted. */
const TROUBLES: Readonly<Record<ChannelTrouble, string | undefined>> = {
  end_taken: 'Channel connection closed: that end is taken already',
  never_taken: 'Channel dropped: one of its ends was never taken',
  buffer_full:
    'Channel writer closed: its reader is too slow, and no more may be kept. A writer with flow control would wait',
  maker_left: undefined,
  spill_failed: 'Channel ended: what its reader had not taken could not be kept on disk',
  protocol_error: 'Channel reader closed: it sent something that is not credit',
  writer_lost: undefined,
  reader_left: undefined,
};
