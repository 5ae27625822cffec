// A healthy pair in a process of its own, for what its answers take beside a test that is busy itself.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('./busy-pair-main.ts', import.meta.url));

export interface BusyTime {
  readonly calls: number;
  readonly p99Ms: number;
}

export class BusyPair implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(url: string): Promise<BusyPair> {
    const pair = new BusyPair(fork(MAIN, [url]));
    await pair.#says();
    return pair;
  }

  /** Calls until that has happened, and at least once. Fails with it, or on a wrong answer. */
  async during(happening: Promise<unknown>): Promise<BusyTime> {
    const told = this.#says();
    // It is awaited unless what is to happen fails first.
    told.catch(() => {});
    this.#child.send('begin');
    await Promise.race([happening, told]);
    this.#child.send('end');
    // What the pair says comes from its own few lines, `busy-pair-main.ts`.
    return (await told) as BusyTime;
  }

  async #says(): Promise<unknown> {
    const over = new AbortController();
    const ended = once(this.#child, 'exit', over).then(([code]) => {
      throw new Error(`The busy pair ended with ${code}`);
    });
    try {
      const [message] = await Promise.race([once(this.#child, 'message', over), ended]);
      return message;
    } finally {
      over.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    if (this.#child.exitCode === null) await ended;
  }
}
