// An engine that is killed and started again while a thousand workers of svc-sdk are connected.

import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { freePort } from '../../support/free-port.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { waitFor } from '../../support/wait-for.ts';

const WORKERS = 1_000;
/** Far more than the 20 s of W5, because the machine may be busy. The figure is printed. */
const BACK_MS_MAX = 60_000;

test('[fault 26] [W5] After a restart a thousand workers reconnect, and the engine answers health checks meanwhile', {
  timeout: 120_000,
}, async () => {
  const line = faultLine('26', 'engine restart', `back=${WORKERS}`);
  const yaml = `workers:\n  - name: svc-worker-manager\n    config: {port: ${await freePort()}}\n`;
  // The first engine admits all of them at once. The second one has the default limits.
  await using engine = await EngineProcess.start(`limits: {trusted: {connections_per_second: 100000}}\n${yaml}`);
  const half = WORKERS / 2;
  const [first, second] = await Promise.all([
    WorkerProcess.startMany(engine.url, half, 0),
    WorkerProcess.startMany(engine.url, half, half),
  ]);
  await using _first = first;
  await using _second = second;
  engine.kill('SIGKILL');
  await engine.ended;
  const killedMs = performance.now();
  await using restarted = await EngineProcess.start(yaml);
  const watch = new HealthWatch(await dial(restarted.url));
  await using caller = await dial(restarted.url);
  await waitFor('all functions are registered again', () => hasAll(caller), BACK_MS_MAX);
  const backMs = performance.now() - killedMs;
  line.figure = `back=${WORKERS} after ${Math.round(backMs)} ms`;
  const { answers, slowestMs } = await watch.end();
  process.stdout.write(
    `${WORKERS} workers reconnected ${Math.round(backMs)} ms after the kill; ` +
      `${answers} health checks meanwhile, the slowest took ${Math.round(slowestMs)} ms\n`,
  );
  expect(answers).toBeGreaterThan(1);
  const numbers = [0, half - 1, half, WORKERS - 1];
  const results = await Promise.all(numbers.map((number) => caller.call(`restart::${number}`)));
  expect(results.map(({ result }) => result)).toEqual(numbers);
});

/** Asks for the engine's health repeatedly. An answer that takes longer than 5 s fails it. */
class HealthWatch {
  #isOver = false;
  readonly #asked: Promise<{ readonly answers: number; readonly slowestMs: number }>;

  constructor(caller: RawWorker) {
    this.#asked = this.#ask(caller);
    // It may fail before `end` is called.
    this.#asked.catch(() => {});
  }

  async end(): Promise<{ readonly answers: number; readonly slowestMs: number }> {
    this.#isOver = true;
    return await this.#asked;
  }

  async #ask(caller: RawWorker): Promise<{ readonly answers: number; readonly slowestMs: number }> {
    await using asking = caller;
    let [answers, slowestMs] = [0, 0];
    while (!this.#isOver) {
      const askedMs = performance.now();
      expect(await asking.call('engine::health::check')).toMatchObject({ result: { status: 'healthy' } });
      slowestMs = Math.max(slowestMs, performance.now() - askedMs);
      answers++;
      // Without a pause these calls would keep the workers from the engine.
      await setTimeout(50);
    }
    return { answers, slowestMs };
  }
}

async function hasAll(caller: RawWorker): Promise<boolean> {
  // The list is long: without a pause it would keep the workers from the engine too.
  await setTimeout(100);
  const { result } = await caller.call('engine::functions::list', { prefix: 'restart::' });
  return (result as { functions: unknown[] }).functions.length === WORKERS;
}

/** Connects while the engine refuses connections over its rate limit. */
async function dial(url: string): Promise<RawWorker> {
  return await waitFor('the engine admits the connection', () => RawWorker.connect(url).catch(() => undefined));
}
