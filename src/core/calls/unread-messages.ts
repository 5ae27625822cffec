// How many of the messages sent to a client it has not read yet: sockets report only bytes.
//
// Job: remember where each message in transit ends, counted in bytes from the beginning of the connection.
// Invariant:
//   - While nothing is unread nothing is remembered: a client that keeps up costs nothing here.

export interface UnreadLimits {
  readonly bytesMax: number;
  readonly messagesMax: number;
  /** Bytes of requested answers, which `bytesMax` does not count: a client must not keep asking and never read. */
  readonly freeBytesMax: number;
}

interface Sent {
  readonly endAt: number;
  readonly messages: number;
  /** Bytes of an answer that the client requested. */
  readonly freeBytes: number;
}

export class UnreadMessages {
  #sentBytes = 0;
  #onTheWay: Sent[] = [];
  #messages = 0;
  #freeBytes = 0;

  /** After a send: that many bytes in that many messages, after which `bufferedBytes` are unread in all. */
  sent(bytes: number, messages: number, bufferedBytes: number, isFree: boolean): void {
    if (bufferedBytes === 0) {
      if (this.#onTheWay.length > 0) this.#forget();
      return;
    }
    this.#sentBytes += bytes;
    const freeBytes = isFree ? bytes : 0;
    this.#onTheWay.push({ endAt: this.#sentBytes, messages, freeBytes });
    this.#messages += messages;
    this.#freeBytes += freeBytes;
  }

  /** Whether the client is too slow; `bufferedBytes` as the socket reports it now. */
  isOver(bufferedBytes: number, { bytesMax, messagesMax, freeBytesMax }: UnreadLimits): boolean {
    this.#note(bufferedBytes);
    if (this.#messages > messagesMax || this.#freeBytes > freeBytesMax) return true;
    return bufferedBytes - this.#freeBytes > bytesMax;
  }

  /** Whether something may be unread, as far as was noted. */
  get hasUnread(): boolean {
    return this.#onTheWay.length > 0;
  }

  #note(bufferedBytes: number): void {
    if (bufferedBytes === 0) {
      this.#forget();
      return;
    }
    const readTo = this.#sentBytes - bufferedBytes;
    let read = 0;
    for (const { endAt, messages, freeBytes } of this.#onTheWay) {
      if (endAt > readTo) break;
      this.#messages -= messages;
      this.#freeBytes -= freeBytes;
      read += 1;
    }
    if (read > 0) this.#onTheWay.splice(0, read);
  }

  #forget(): void {
    this.#sentBytes = 0;
    this.#onTheWay = [];
    this.#messages = 0;
    this.#freeBytes = 0;
  }
}
