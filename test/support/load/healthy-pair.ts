// Two workers that call each other all the time, whatever the test does to the engine. Each call must get the right
// answer.

import { registerWorker } from '../../../src/sdk/index.ts';
import { RawWorker, type RawWorkerOptions } from '../clients/raw-worker.ts';

export class HealthyPair implements AsyncDisposable {
  readonly #double: (value: number) => Promise<unknown>;
  readonly #end: () => Promise<unknown>;

  private constructor(double: (value: number) => Promise<unknown>, end: () => Promise<unknown>) {
    this.#double = double;
    this.#end = end;
  }

  static async start(url: string, options: RawWorkerOptions = {}): Promise<HealthyPair> {
    const [worker, caller] = await Promise.all([RawWorker.connect(url, options), RawWorker.connect(url, options)]);
    await worker.serve('healthy::double', (value) => Number(value) * 2);
    return new HealthyPair(
      async (value) => (await caller.call('healthy::double', value)).result,
      () => Promise.all([worker[Symbol.asyncDispose](), caller[Symbol.asyncDispose]()]),
    );
  }

  /** The same with the SDK of the engine, on the binary form of the wire. A lost connection fails the call. */
  static async startBinary(url: string): Promise<HealthyPair> {
    const connect = () => registerWorker(url, { handle_signals: false, drain_timeout_ms: 0, wire: 'binary' });
    const [worker, caller] = [connect(), connect()];
    await worker.registerFunction('healthy::double-binary', (value: number) => value * 2).ready();
    return new HealthyPair(
      (payload) => caller.trigger({ function_id: 'healthy::double-binary', payload }),
      () => Promise.all([worker.shutdown(), caller.shutdown()]),
    );
  }

  /**
   * Calls until the promise resolves, and at least once; returns how often. Fails with the promise, or on a wrong answer.
   * `took` gets the milliseconds of each answer.
   */
  async callUntil(happened: Promise<unknown>, took?: (ms: number) => void): Promise<number> {
    let isOver = false;
    const over = happened.finally(() => {
      isOver = true;
    });
    // It may fail during a call: it is awaited after the loop.
    over.catch(() => {});
    let calls = 0;
    do {
      const value = ++calls;
      const startMs = performance.now();
      const answer = await this.#double(value);
      took?.(performance.now() - startMs);
      if (answer !== value * 2) throw new Error(`Twice ${value} was answered with ${JSON.stringify(answer)}`);
    } while (!isOver);
    await over;
    return calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
