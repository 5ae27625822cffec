// A healthy pair in a process of its own, for what its answers take beside a test that is busy itself.

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

  /** Calls until that has happened, and at least once. Fails with it, or on a wrong answer. */
  async during(happening: Promise<unknown>): Promise<BusyTime> {
    const told = this.#part.says();
    // It is awaited unless what is to happen fails first.
    told.catch(() => {});
    this.#part.tell('begin');
    await Promise.race([happening, told]);
    this.#part.tell('end');
    // What the pair says comes from its own few lines, `busy-pair-main.ts`.
    return (await told) as BusyTime;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#part[Symbol.asyncDispose]();
  }
}
