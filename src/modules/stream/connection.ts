// One client of the stream server: its socket, its unread bytes, and its subscriptions.
//
// Invariants:
//   - No event is skipped on a connection that stays open: what does not fit closes it with 4408 (T5).
//   - A conflated subscription is the exception: while more than a little is unread, the newest event of each of its
//     items is kept, and is sent when nothing is unread any more. Kept events count towards the limits of unread bytes.
//   - `closed` is called once, whichever side ended it.

import { type UnreadLimits, UnreadMessages } from '../../core/calls/unread-messages.ts';
import { MessageRate, type MessageRateLimits, type RateVerdict } from '../../core/limits/message-rate.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { PeerSocket } from '../../transport/socket.ts';
import { Backlog } from './backlog.ts';
import { Batch, type EventBatch } from './server-message.ts';
import type { Subscription } from './subscription.ts';

export interface ConnectionParts {
  readonly socket: PeerSocket;
  /** The client accepts several messages in one frame. */
  readonly isBatched: boolean;
  /** The context from the auth function, passed to join and leave triggers. */
  readonly context: RawJson;
  readonly limits: UnreadLimits;
  readonly address: string;
  readonly nowMs: number;
  /** Unix milliseconds. */
  readonly connectedAtMs: number;
  /** It must be closed for being too slow. */
  tooSlow(connection: StreamConnection, bytes: number): void;
  /** So many events were left out in favour of newer ones. */
  leftOut(events: number): void;
}

/** The share of unread bytes from which conflated subscriptions wait until all of it is read. */
const BEHIND_SHARE = 1 / 16;

export class StreamConnection {
  readonly context: RawJson;
  readonly isBatched: boolean;
  readonly connectedMs: number;
  heardMs: number;
  pingedMs: number;
  /** By the id that the client chose. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Whether it ever sent a join. */
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

  /** Its unread bytes, and those kept for it. */
  get bufferedBytes(): number {
    return this.#parts.socket.bufferedBytes + (this.#backlog?.bytes ?? 0);
  }

  /** Whether it has unread bytes that were noted. */
  get isBehind(): boolean {
    return this.#unread.isBehind;
  }

  /** Whether one more message of the client may be handled. */
  rate(nowMs: number, limits: MessageRateLimits): RateVerdict {
    this.#rate ??= new MessageRate(limits, nowMs);
    return this.#rate.take(nowMs);
  }

  /** `isFree`: an answer that the client requested; however long it is, it does not make the client slow. */
  send(batch: Batch, isFree = false): void {
    const { socket, limits } = this.#parts;
    if (!socket.isOpen) return;
    // A limit may be exceeded by one message: it is checked before the next.
    if (this.#unread.isBehind && this.#unread.isOver(socket.bufferedBytes, limits)) {
      this.#parts.tooSlow(this, socket.bufferedBytes);
      return;
    }
    const texts = batch.texts(this.isBatched);
    const isComplete = socket.sendPrepared(texts);
    this.#unread.sent(texts.bytes, batch.count, socket.bufferedBytes, isFree);
    if (!isComplete) this.#parts.tooSlow(this, socket.bufferedBytes);
  }

  /** For a subscription that needs only the newest event of each item. */
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
