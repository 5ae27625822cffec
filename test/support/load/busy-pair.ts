// A healthy pair in a separate process, to measure the time of its answers next to a busy test.

import { ChildPart } from './child-part.ts';

export interface BusyTime {
  readonly calls: number;
  readonly p99Ms: number;
}

export class BusyPair implements AsyncDisposable {
  readonly #part: ChildPart;

  private constructor(part: ChildPart) {
    this.#part = part;
  }

  static async start(url: string): Promise<BusyPair> {
    return new BusyPair(await ChildPart.start('./busy-pair-main.ts', [url]));
  }

  /** Calls until the promise resolves, and at least once. Fails with the promise, or on a wrong answer. */
  async during(happening: Promise<unknown>): Promise<BusyTime> {
    const answer = this.#part.says();
    // It is awaited unless the other promise fails first.
    answer.catch(() => {});
    this.#part.send('begin');
    await Promise.race([happening, answer]);
    this.#part.send('end');
    // The message comes from `busy-pair-main.ts`.
    return (await answer) as BusyTime;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#part[Symbol.asyncDispose]();
  }
}
