// One client of the stream server: its socket, what it may still be sent, and its subscriptions.
//
// Invariants:
//   C1  Nothing is skipped on a connection that stays open: what does not fit ends it with 4408 (T5).
//   C2  `closed` is told once, whoever ended it.

import { MessageRate, type MessageRateLimits, type RateVerdict } from '../../core/message-rate.ts';
import { type UnreadLimits, UnreadMessages } from '../../core/unread-messages.ts';
import type { RawJson } from '../../protocol/byte-string.ts';
import { CLOSE_CODES } from '../../protocol/close-codes.ts';
import type { PeerSocket } from '../../transport/socket.ts';
import type { Batch } from './server-message.ts';
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
}

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

  get bufferedBytes(): number {
    return this.#parts.socket.bufferedBytes;
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
