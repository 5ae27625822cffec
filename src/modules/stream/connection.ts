// The connection of one client of the stream server: its socket and its unread bytes.
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
import { Batch, type EventBatch } from './messages.ts';

export interface StreamConnectionOptions {
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
const MUCH_UNREAD_SHARE = 1 / 16;

export class StreamConnection {
  readonly context: RawJson;
  readonly isBatched: boolean;
  readonly connectedMs: number;
  heardMs: number;
  pingedMs: number;
  /** Whether it ever sent a join. */
  hasAsked = false;
  readonly #options: StreamConnectionOptions;
  readonly #unread = new UnreadMessages();
  /** Most connections never need one. */
  #backlog: Backlog | undefined;
  #isDrainAwaited = false;
  #rate: MessageRate | undefined;

  constructor(options: StreamConnectionOptions) {
    this.#options = options;
    this.context = options.context;
    this.isBatched = options.isBatched;
    this.connectedMs = options.nowMs;
    this.heardMs = options.nowMs;
    this.pingedMs = options.nowMs;
  }

  get address(): string {
    return this.#options.address;
  }

  get connectedAtMs(): number {
    return this.#options.connectedAtMs;
  }

  get isOpen(): boolean {
    return this.#options.socket.isOpen;
  }

  /** Its unread bytes, and those kept for it. */
  get bufferedBytes(): number {
    return this.#options.socket.bufferedBytes + (this.#backlog?.bytes ?? 0);
  }

  /** Whether it has unread bytes that were noted. */
  get hasUnread(): boolean {
    return this.#unread.hasUnread;
  }

  /** Whether one more message of the client may be handled. */
  rate(nowMs: number, limits: MessageRateLimits): RateVerdict {
    this.#rate ??= new MessageRate(limits, nowMs);
    return this.#rate.take(nowMs);
  }

  /** `isFree`: an answer that the client requested; however long it is, it does not make the client slow. */
  send(batch: Batch, isFree = false): void {
    const { socket, limits } = this.#options;
    if (!socket.isOpen) return;
    // A limit may be exceeded by one message: it is checked before the next.
    if (this.#unread.hasUnread && this.#unread.isOver(socket.bufferedBytes, limits)) {
      this.#options.tooSlow(this, socket.bufferedBytes);
      return;
    }
    const texts = batch.texts(this.isBatched);
    const isComplete = socket.sendPrepared(texts);
    this.#unread.sent(texts.bytes, batch.count, socket.bufferedBytes, isFree);
    if (!isComplete) this.#options.tooSlow(this, socket.bufferedBytes);
  }

  /** For a subscription that needs only the newest event of each item. */
  sendNewest(subscriptionId: string, batch: EventBatch): void {
    if (!this.#options.socket.isOpen) return;
    if (this.#backlog?.holdsFor(subscriptionId) !== true && !this.#hasMuchUnread()) {
      this.send(batch);
      return;
    }
    this.#backlog ??= new Backlog();
    this.#backlog.keep(subscriptionId, batch.events);
    this.#awaitDrain();
    const { bytesMax, messagesMax } = this.#options.limits;
    const { bytes, count } = this.#backlog;
    if (bytes > bytesMax || count > messagesMax) this.#options.tooSlow(this, this.bufferedBytes);
  }

  /** Returns the number up to which the subscription was sent everything, if something was kept for it. */
  dropKept(subscriptionId: string): number | undefined {
    return this.#backlog?.drop(subscriptionId);
  }

  #hasMuchUnread(): boolean {
    if (!this.#unread.hasUnread) return false;
    const { socket, limits } = this.#options;
    const bytesMax = MUCH_UNREAD_SHARE * limits.bytesMax;
    const messagesMax = MUCH_UNREAD_SHARE * limits.messagesMax;
    return this.#unread.isOver(socket.bufferedBytes, { ...limits, bytesMax, messagesMax });
  }

  #awaitDrain(): void {
    if (this.#isDrainAwaited) return;
    this.#isDrainAwaited = true;
    this.#options.socket.whenDrained(() => this.#drained());
  }

  #drained(): void {
    this.#isDrainAwaited = false;
    if (this.#backlog === undefined || this.#backlog.isEmpty) return;
    // Other subscriptions of the connection may have been sent more meanwhile.
    if (this.#hasMuchUnread()) {
      this.#awaitDrain();
      return;
    }
    const { messages, leftOut } = this.#backlog.take();
    this.#options.leftOut(leftOut);
    this.send(new Batch(messages));
  }

  ping(): void {
    this.#options.socket.ping();
  }

  close(code: number, reason: string): void {
    this.#options.socket.close(code, reason);
  }

  closeSlow(bytes: number): void {
    this.close(CLOSE_CODES.tooSlow, `${bytes} bytes wait to be read`);
  }

  terminate(): void {
    this.#options.socket.terminate();
  }
}
