// Many callers that write state at once and remember the acknowledged writes, which must not be lost in a crash.

import type { Frame, RawWorker } from '../clients/raw-worker.ts';

export interface Acknowledged {
  /** The newest acknowledged value of each key. */
  readonly values: ReadonlyMap<string, number>;
  /** Refused values, which must not be in the store. Only of runs whose refusals are certain. */
  readonly refused: ReadonlyMap<string, number>;
}

export class StateWriters {
  readonly #worker: RawWorker;
  readonly #values = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #running: Promise<void>[] = [];
  #isStopped = false;
  #acknowledgedCount = 0;

  constructor(worker: RawWorker) {
    this.#worker = worker;
    worker.socket.once('close', () => this.stop());
  }

  get acknowledged(): Acknowledged {
    return { values: this.#values, refused: this.#refused };
  }

  get acknowledgedCount(): number {
    return this.#acknowledgedCount;
  }

  start(count: number): this {
    for (let writer = 0; writer < count; writer++) this.#running.push(this.#write(`key-${writer}`));
    return this;
  }

  /** When each of them was answered for the last time, or its connection ended. */
  async settled(): Promise<Acknowledged> {
    await Promise.all(this.#running);
    return this.acknowledged;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #write(key: string): Promise<void> {
    for (let value = 1; !this.#isStopped; value++) {
      const answer = await this.#answerOrEnd({ scope: 'faults', key, value });
      if (answer === undefined) return;
      if (answer.error !== undefined) {
        this.#refused.set(key, value);
        return;
      }
      this.#values.set(key, value);
      this.#acknowledgedCount++;
    }
  }

  /** `undefined`: the connection ended first, so it is unknown whether the write was made. */
  #answerOrEnd(entry: object): Promise<Frame | undefined> {
    const ended = this.#worker.closed.then(() => undefined);
    return Promise.race([this.#worker.call('state::set', entry), ended]);
  }
}

/** What is stored now: the number under each key. */
export async function readBack(worker: RawWorker): Promise<ReadonlyMap<string, number>> {
  const { result } = await worker.call('state::list', { scope: 'faults', include_keys: true });
  const entries = result as { key: string; value: number }[];
  return new Map(entries.map(({ key, value }) => [key, value]));
}
