// One connection's way out: frames wait here until the end of the event-loop turn, then leave together. Of the binary
// form they leave before that where many bytes have gathered: the peer begins while the turn goes on.
//
// Job: one write for many frames (only the socket being handled is corked by the library; every send elsewhere
// would be a system call of its own), and the byte count that all outbound limits go by.
// Neighbours: a session's wire fills it; `FlushQueue` empties every outbox once per turn.
// Two kinds: frames of text leave one by one in one write, messages of the binary form as one frame.
// Invariants:
//   O1  What was put in first leaves first.
//   O2  After `close` nothing is sent any more.

import type { Clock } from '../effects/clock.ts';
import { MessageBuffer } from '../protocol/binary-write.ts';
import type { ByteString } from '../protocol/byte-string.ts';
import type { PeerSocket } from './socket.ts';

/** What the outbox tells its owner. */
export interface OutboxEvents {
  /** The library refused a frame that our own limits allowed: frames are missing, the connection is void (L5). */
  dropped(): void;
  /** More bytes wait for the peer than it is allowed. Told at the end of a turn, never from within a frame. */
  overflowed(bytes: number): void;
}

export interface OutboxParts {
  readonly socket: PeerSocket;
  readonly flushes: FlushQueue;
  /** Beyond this the peer is too slow. */
  readonly bytesMax: number;
  readonly events: OutboxEvents;
}

export abstract class Outbox {
  readonly #parts: OutboxParts;
  #unwrittenBytes = 0;
  /** Since its owner was last told how sending went. */
  #sent: 'nothing' | 'all' | 'in part' = 'nothing';
  #isClosed = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Bytes on their way: waiting here, and taken by the library but not by the operating system. */
  get bytes(): number {
    // Asking the library costs more than the rest of a call's checks: only where the last flush left something.
    if (this.#unwrittenBytes > 0) this.#unwrittenBytes = this.#parts.socket.bufferedBytes;
    return this.queuedBytes + this.#unwrittenBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  flush(): void {
    if (this.#isClosed) return;
    if (this.queuedBytes > 0) this.sendNow();
    if (this.#sent === 'nothing') return;
    const { socket, events, bytesMax } = this.#parts;
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

  /** Gives memory back that a burst has left; called now and then. */
  abstract trim(): void;

  /** Its owner is told at the end of the turn how that went. */
  protected sendNow(): void {
    const { socket } = this.#parts;
    const isComplete = this.sendTo(socket);
    this.#unwrittenBytes = socket.bufferedBytes;
    this.#sent = isComplete && this.#sent !== 'in part' ? 'all' : 'in part';
  }

  /** To be called when the first frame of a turn goes in. */
  protected scheduleFlush(): void {
    this.#parts.flushes.add(this);
  }

  protected abstract get queuedBytes(): number;
  /** Sends all that waits and forgets it. False: the library dropped some of it. */
  protected abstract sendTo(socket: PeerSocket): boolean;
  protected abstract discard(): void;
}

export class TextOutbox extends Outbox {
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
 * Worth a write of their own in the middle of a turn: peers that wait for one another would else work in turns with the
 * engine. 8 KiB cost small calls a fifth (bench/RESULTS.md).
 */
const EARLY_BYTES = 16 * 1024;

export class BinaryOutbox extends Outbox {
  readonly #messages = new MessageBuffer();

  /** Where to write; `undefined` once nothing is sent any more. */
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

/** Peers have limits of their own for one frame: what a turn gathered leaves in pieces of about this size. */
const FRAME_BYTES_MAX = 1024 * 1024;

/** The end of the last message that fits into one frame with those before it; a single message is never cut. */
function endOfFrame(messages: Buffer, start: number): number {
  if (messages.length - start <= FRAME_BYTES_MAX) return messages.length;
  let end = start;
  do end += 4 + messages.readUInt32LE(end);
  while (end < messages.length && end + 4 + messages.readUInt32LE(end) - start <= FRAME_BYTES_MAX);
  return end;
}

/** The outboxes that have something to send in this turn. */
export class FlushQueue {
  readonly #clock: Clock;
  #waiting: Outbox[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(outbox: Outbox): void {
    if (this.#waiting.push(outbox) === 1) this.#clock.afterTurn(() => this.#flushAll());
  }

  #flushAll(): void {
    const outboxes = this.#waiting;
    this.#waiting = [];
    for (const outbox of outboxes) outbox.flush();
  }
}
