// One client of the stream server: its socket, what it may still be sent, and its subscriptions.
//
// Invariants:
//   C1  Nothing is skipped on a connection that stays open: what does not fit ends it with 4408 (T5).
//   C2  A conflated subscription is the exception: while more than a little is unread, the newest event of each of its
//       items is kept, and leaves when nothing is unread any more. What is kept has the limits of what is unread.
//   C3  `closed` is told once, whoever ended it.

import { MessageRate, type MessageRateLimits, type RateVerdict } from '../../core/message-rate.ts';
import { type UnreadLimits, UnreadMessages } from '../../core/unread-messages.ts';
import type { RawJson } from '../../protocol/byte-string.ts';
import { CLOSE_CODES } from '../../protocol/close-codes.ts';
import type { PeerSocket } from '../../transport/socket.ts';
import { Backlog } from './backlog.ts';
import { Batch, type EventBatch } from './server-message.ts';
import type { Subscription } from './subscription.ts';

export interface ConnectionParts {
  readonly socket: PeerSocket;
  /** The client takes several messages in one frame. */
  readonly isBatched: boolean;
  /** What the auth function said of it, handed to join and leave triggers. */
  readonly context: RawJson;
  readonly limits: UnreadLimits;
  readonly address: string;
  readonly nowMs: number;
  /** Unix milliseconds. */
  readonly connectedAtMs: number;
  /** It is to be closed for being too slow. */
  tooSlow(connection: StreamConnection, bytes: number): void;
  /** So many events were left out for the sake of newer ones. */
  leftOut(events: number): void;
}

/** Of what may be unread: from so much on, conflated subscriptions wait until all of it is read. */
const BEHIND_SHARE = 1 / 16;

export class StreamConnection {
  readonly context: RawJson;
  readonly isBatched: boolean;
  readonly connectedMs: number;
  heardMs: number;
  pingedMs: number;
  /** By the id that the client chose. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Whether it ever asked to join something. */
  hasAsked = false;
  readonly #parts: ConnectionParts;
  readonly #unread = new UnreadMessages();
  /** Most connections never need one. */
  #backlog: Backlog | undefined;
  #isDrainAwaited = false;
  #rate: MessageRate | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.context = parts.context;
    this.isBatched = parts.isBatched;
    this.connectedMs = parts.nowMs;
    this.heardMs = parts.nowMs;
    this.pingedMs = parts.nowMs;
  }

  get address(): string {
    return this.#parts.address;
  }

  get connectedAtMs(): number {
    return this.#parts.connectedAtMs;
  }

  get isOpen(): boolean {
    return this.#parts.socket.isOpen;
  }

  /** What it has not read, and what is kept for it. */
  get bufferedBytes(): number {
    return this.#parts.socket.bufferedBytes + (this.#backlog?.bytes ?? 0);
  }

  /** Whether it has something to read that was noted as unread. */
  get isBehind(): boolean {
    return this.#unread.isBehind;
  }

  /** Whether one more message of the client may be handled. */
  rate(nowMs: number, limits: MessageRateLimits): RateVerdict {
    this.#rate ??= new MessageRate(limits, nowMs);
    return this.#rate.take(nowMs);
  }

  /** `isFree`: an answer that the client asked for; however long it is, it does not make the client slow. */
  send(batch: Batch, isFree = false): void {
    const { socket, limits } = this.#parts;
    if (!socket.isOpen) return;
    // A limit may be overstepped by one message: it is looked at before the next.
    if (this.#unread.isBehind && this.#unread.isOver(socket.bufferedBytes, limits)) {
      this.#parts.tooSlow(this, socket.bufferedBytes);
      return;
    }
    const texts = batch.texts(this.isBatched);
    const isComplete = socket.sendPrepared(texts);
    this.#unread.sent(texts.bytes, batch.count, socket.bufferedBytes, isFree);
    if (!isComplete) this.#parts.tooSlow(this, socket.bufferedBytes);
  }

  /** Of a subscription that needs no more than the newest event of each item. */
  sendNewest(subscription: Subscription, batch: EventBatch): void {
    if (!this.#parts.socket.isOpen) return;
    if (this.#backlog?.holdsFor(subscription) !== true && !this.#isFarBehind()) {
      this.send(batch);
      return;
    }
    this.#backlog ??= new Backlog();
    this.#backlog.keep(subscription, batch.events);
    this.#awaitDrain();
    const { bytesMax, messagesMax } = this.#parts.limits;
    const { bytes, count } = this.#backlog;
    if (bytes > bytesMax || count > messagesMax) this.#parts.tooSlow(this, this.bufferedBytes);
  }

  /** Returns the number up to which the subscription was sent everything, if something was kept for it. */
  dropKept(subscription: Subscription): number | undefined {
    return this.#backlog?.drop(subscription);
  }

  #isFarBehind(): boolean {
    if (!this.#unread.isBehind) return false;
    const { socket, limits } = this.#parts;
    const bytesMax = BEHIND_SHARE * limits.bytesMax;
    const messagesMax = BEHIND_SHARE * limits.messagesMax;
    return this.#unread.isOver(socket.bufferedBytes, { ...limits, bytesMax, messagesMax });
  }

  #awaitDrain(): void {
    if (this.#isDrainAwaited) return;
    this.#isDrainAwaited = true;
    this.#parts.socket.whenDrained(() => this.#drained());
  }

  #drained(): void {
    this.#isDrainAwaited = false;
    if (this.#backlog === undefined || this.#backlog.isEmpty) return;
    // Other subscriptions of the connection may have been sent more meanwhile.
    if (this.#isFarBehind()) {
      this.#awaitDrain();
      return;
    }
    const { messages, leftOut } = this.#backlog.take();
    this.#parts.leftOut(leftOut);
    this.send(new Batch(messages));
  }

  ping(): void {
    this.#parts.socket.ping();
  }

  close(code: number, reason: string): void {
    this.#parts.socket.close(code, reason);
  }

  closeSlow(bytes: number): void {
    this.close(CLOSE_CODES.tooSlow, `${bytes} bytes wait to be read`);
  }

  terminate(): void {
    this.#parts.socket.terminate();
  }
}
