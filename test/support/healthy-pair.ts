// Two workers that call each other all the time, beside whatever the test does to the engine: each answer must be
// the right one, and come.

import { RawWorker, type RawWorkerOptions } from './raw-worker.ts';

export class HealthyPair implements AsyncDisposable {
  readonly #worker: RawWorker;
  readonly #caller: RawWorker;

  private constructor(worker: RawWorker, caller: RawWorker) {
    this.#worker = worker;
    this.#caller = caller;
  }

  static async start(url: string, options: RawWorkerOptions = {}): Promise<HealthyPair> {
    const [worker, caller] = await Promise.all([RawWorker.connect(url, options), RawWorker.connect(url, options)]);
    await worker.serve('healthy::double', (value) => Number(value) * 2);
    return new HealthyPair(worker, caller);
  }

  /** Calls until that has happened, and at least once; returns how often. Fails with it, or on a wrong answer. */
  async callUntil(happened: Promise<unknown>): Promise<number> {
    let isOver = false;
    const over = happened.finally(() => {
      isOver = true;
    });
    // It may fail while a call is on its way: it is awaited behind the loop.
    over.catch(() => {});
    let calls = 0;
    do {
      const value = ++calls;
      const answer = await this.#caller.call('healthy::double', value);
      if (answer.result !== value * 2) throw new Error(`Twice ${value} was answered with ${JSON.stringify(answer)}`);
    } while (!isOver);
    await over;
    return calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]();
    await this.#caller[Symbol.asyncDispose]();
  }
}
