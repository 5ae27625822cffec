// The bytes of finished answers that their clients have not read. The operating system takes what fits its buffers; the
// rest is memory of the engine.
//
// Over the limit, the connection that has waited longest is closed: a client that reads is soon done, so the oldest is
// most likely one that does not.

export interface UnreadAnswer {
  /** Closes the connection. The answer has been released. */
  abort(): void;
}

export class UnreadAnswers {
  readonly #bytesMax: number;
  /** In the order in which they began to wait. */
  readonly #answers = new Map<UnreadAnswer, number>();
  #bytes = 0;
  #aborted = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts `bytes` until the answer is released. Aborts answers, possibly this one, while the limit is exceeded. */
  hold(answer: UnreadAnswer, bytes: number): void {
    this.release(answer);
    this.#answers.set(answer, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.release(oldest);
      this.#aborted++;
      oldest.abort();
    }
  }

  /** Without effect for an answer that is not held. */
  release(answer: UnreadAnswer): void {
    this.#bytes -= this.#answers.get(answer) ?? 0;
    this.#answers.delete(answer);
  }

  /** How many answers were aborted since the last call. */
  takeAborted(): number {
    const aborted = this.#aborted;
    this.#aborted = 0;
    return aborted;
  }
}
