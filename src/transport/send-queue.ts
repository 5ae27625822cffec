// The send queue of one connection: frames wait here until the end of the event-loop turn, then leave together.
// Messages of the binary form leave earlier where many bytes have gathered, so that the receiver starts before the
// turn ends.
//
// Job: one write for many frames (the library corks only the socket that is being handled; every other send would be a
// system call of its own), and the byte count on which all outbound limits are based.
// Neighbours: a session's wire fills it; `FlushQueue` empties every send queue once per turn. Two kinds: text frames
// leave one by one in one write, messages of the binary form as one frame.
// Invariants:
//   - Frames leave in the order in which they were added.
//   - After `close` nothing is sent any more.

import type { Clock } from '../effects/clock.ts';
import { MessageBuffer } from '../protocol/binary/binary-messages.ts';
import type { ByteString } from '../protocol/json/byte-string.ts';
import type { PeerSocket } from './socket.ts';

/** What the send queue reports to its owner. */
export interface SendQueueEvents {
  /**
   * The library refused a frame that the engine's own limits allowed: frames are missing, and the connection is
   * unusable (L5).
   */
  dropped(): void;
  /** More bytes wait for the client than its limit. Reported at the end of a turn, never from within a frame. */
  overflowed(bytes: number): void;
}

export interface SendQueueOptions {
  readonly socket: PeerSocket;
  readonly flushes: FlushQueue;
  /** Beyond this the client is too slow. */
  readonly bytesMax: number;
  readonly events: SendQueueEvents;
}

export abstract class SendQueue {
  readonly #options: SendQueueOptions;
  #unwrittenBytes = 0;
  /** Since the last report to the owner. */
  #sent: 'nothing' | 'all' | 'in part' = 'nothing';
  #isClosed = false;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  /** Bytes in transit: waiting here, and taken by the library but not by the operating system. */
  get bytes(): number {
    // Asking the library costs more than the rest of a call's checks, so it is asked only where the last flush left
    // bytes.
    if (this.#unwrittenBytes > 0) this.#unwrittenBytes = this.#options.socket.bufferedBytes;
    return this.queuedBytes + this.#unwrittenBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  flush(): void {
    if (this.#isClosed) return;
    if (this.queuedBytes > 0) this.sendNow();
    if (this.#sent === 'nothing') return;
    const { socket, events, bytesMax } = this.#options;
    const isComplete = this.#sent === 'all';
    this.#sent = 'nothing';
    this.#unwrittenBytes = socket.bufferedBytes;
    if (!isComplete) events.dropped();
    else if (this.#unwrittenBytes > bytesMax) events.overflowed(this.#unwrittenBytes);
  }

  close(): void {
    this.#isClosed = true;
    this.discard();
  }

  /** Frees the memory of a burst; called now and then. */
  abstract trim(): void;

  /** The owner gets the outcome at the end of the turn. */
  protected sendNow(): void {
    const { socket } = this.#options;
    const isComplete = this.sendTo(socket);
    this.#unwrittenBytes = socket.bufferedBytes;
    this.#sent = isComplete && this.#sent !== 'in part' ? 'all' : 'in part';
  }

  /** To be called when the first frame of a turn is added. */
  protected scheduleFlush(): void {
    this.#options.flushes.add(this);
  }

  protected abstract get queuedBytes(): number;
  /** Sends all waiting frames and forgets them. False: the library dropped some. */
  protected abstract sendTo(socket: PeerSocket): boolean;
  protected abstract discard(): void;
}

export class TextSendQueue extends SendQueue {
  #frames: ByteString[] = [];
  #queuedBytes = 0;

  push(frame: ByteString): void {
    if (this.isClosed) return;
    if (this.#frames.push(frame) === 1) this.scheduleFlush();
    this.#queuedBytes += frame.length;
  }

  override trim(): void {
    // The list of a turn is dropped with the turn.
  }

  protected override get queuedBytes(): number {
    return this.#queuedBytes;
  }

  protected override sendTo(socket: PeerSocket): boolean {
    const frames = this.#frames;
    this.discard();
    let isComplete = true;
    socket.cork(() => {
      for (const frame of frames) isComplete = socket.sendText(frame) && isComplete;
    });
    return isComplete;
  }

  protected override discard(): void {
    this.#frames = [];
    this.#queuedBytes = 0;
  }
}

/**
 * Large enough for a write of its own in the middle of a turn: clients that wait for one another would otherwise work
 * in alternation with the engine. 8 KiB slow small calls down by a fifth (bench/RESULTS.md).
 */
const EARLY_BYTES = 16 * 1024;

export class BinarySendQueue extends SendQueue {
  readonly #messages = new MessageBuffer();

  /** Where to write; `undefined` after the close. */
  open(): MessageBuffer | undefined {
    if (this.isClosed) return undefined;
    if (this.#messages.length === 0) this.scheduleFlush();
    else if (this.#messages.length >= EARLY_BYTES) this.sendNow();
    return this.#messages;
  }

  override trim(): void {
    this.#messages.trim();
  }

  protected override get queuedBytes(): number {
    return this.#messages.length;
  }

  protected override sendTo(socket: PeerSocket): boolean {
    const messages = this.#messages.view();
    let isComplete = true;
    for (let start = 0; start < messages.length; ) {
      const end = endOfFrame(messages, start);
      isComplete = socket.sendBinary(messages.subarray(start, end)) && isComplete;
      start = end;
    }
    this.#messages.clear();
    return isComplete;
  }

  protected override discard(): void {
    this.#messages.clear();
  }
}

/** Clients limit the size of one frame: what a turn gathered leaves in pieces of about this size. */
const FRAME_BYTES_MAX = 1024 * 1024;

/** The end of the last message that fits into one frame with those before it. A single message is never cut. */
function endOfFrame(messages: Buffer, start: number): number {
  if (messages.length - start <= FRAME_BYTES_MAX) return messages.length;
  let end = start;
  do end += 4 + messages.readUInt32LE(end);
  while (end < messages.length && end + 4 + messages.readUInt32LE(end) - start <= FRAME_BYTES_MAX);
  return end;
}

/** The send queues that have something to send in this turn. */
export class FlushQueue {
  readonly #clock: Clock;
  #waiting: SendQueue[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(sendQueue: SendQueue): void {
    if (this.#waiting.push(sendQueue) === 1) this.#clock.afterTurn(() => this.#flushAll());
  }

  #flushAll(): void {
    const sendQueues = this.#waiting;
    this.#waiting = [];
    for (const sendQueue of sendQueues) sendQueue.flush();
  }
}
