// The bytes of finished answers that their clients have not read. The operating system takes what fits its buffers; the
// rest is memory of the engine.
//
// Over the limit, the connection that has waited longest is closed: a client that reads is soon done, so the oldest is
// most likely one that does not.

import { SharedBytes } from './connection-counts.ts';

export interface UnreadAnswer {
  /** Closes the connection. The answer has been released. */
  abort(): void;
}

export class UnreadAnswers {
  readonly #bytesMax: number;
  readonly #shared: SharedBytes;
  /** In the order in which they began to wait. */
  readonly #answers = new Map<UnreadAnswer, number>();
  #bytes = 0;
  #aborted = 0;

  /** `shared`: those of all routers. */
  constructor(bytesMax: number, shared = new SharedBytes()) {
    this.#bytesMax = bytesMax;
    this.#shared = shared;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts `bytes` until the answer is released. Aborts answers, possibly this one, while the limit is exceeded. */
  hold(answer: UnreadAnswer, bytes: number): void {
    this.release(answer);
    this.#answers.set(answer, bytes);
    this.#setBytes(this.#bytes + bytes);
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#abort(oldest);
    }
  }

  /**
   * Called now and then: over the limit of the process each router closes its share. A router that closed its own at
   * once might close those of clients that read, because of others' that do not.
   */
  check(): void {
    const all = this.#bytes + this.#shared.elsewhere;
    const excess = (all - this.#bytesMax) * (this.#bytes / all);
    // Nothing is unread: not a number.
    if (!(excess > 0)) return;
    const kept = this.#bytes - excess;
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= kept) return;
      this.#abort(oldest);
    }
  }

  #abort(answer: UnreadAnswer): void {
    this.release(answer);
    this.#aborted++;
    answer.abort();
  }

  /** Without effect for an answer that is not held. */
  release(answer: UnreadAnswer): void {
    this.#setBytes(this.#bytes - (this.#answers.get(answer) ?? 0));
    this.#answers.delete(answer);
  }

  #setBytes(bytes: number): void {
    this.#bytes = bytes;
    this.#shared.note(bytes);
  }

  /** How many answers were aborted since the last call. */
  takeAborted(): number {
    const aborted = this.#aborted;
    this.#aborted = 0;
    return aborted;
  }
}
