// Faults 15 and 16: fifo groups while jobs fail, workers are killed and the engine is killed. Inside a group no job
// overtakes another, and a group that waits for its retry blocks no other.

import { expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import type { SeededRandom } from '../../support/random/seeded-random.ts';
import { enqueue, queueYaml, receiptOf, startQueueEngine, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const JOBS_PER_GROUP = 8;
/** 1 000 groups of jobs in the long form. */
const GROUPS = Math.min(1_000, 10 * rounds(1));
const ENGINE_KILLS = 3;
const QUEUES = '{orders: {type: fifo, message_group_field: group, max_retries: 100, backoff_ms: 5}}';

interface Order {
  readonly group: number;
  readonly n: number;
}

/** What handlers saw: which jobs of a group were done, in order, and how many ran at once. */
class FifoLog {
  readonly done = new Map<number, number[]>();
  running = 0;
  runningMax = 0;
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  get doneCount(): number {
    return [...this.done.values()].reduce((sum, order) => sum + new Set(order).size, 0);
  }

  /** Until its connection ends; one job in five fails, and each is answered in a later turn. */
  async work(worker: RawWorker): Promise<void> {
    await worker.register('order');
    const take = async (): Promise<void> => {
      for (;;) {
        const call = await worker.next('invokefunction');
        this.running++;
        this.runningMax = Math.max(this.runningMax, this.running);
        await new Promise((resolve) => setImmediate(resolve));
        this.running--;
        this.#end(worker, call);
      }
    };
    // No job comes for a while, or the connection ended: the next round has a worker of its own.
    take().catch(() => {});
  }

  #end(worker: RawWorker, call: Frame): void {
    const { group, n } = call.data as Order;
    if (this.#random.chance(20)) return worker.answer(call, { error: { code: 'no', message: 'not this time' } });
    this.done.set(group, [...(this.done.get(group) ?? []), n]);
    worker.answer(call, { result: null });
  }
}

test('[F1] [F2] [F3] [fault 15] Groups keep their order while jobs fail and workers and engines are killed', {
  timeout: 60_000 + GROUPS * JOBS_PER_GROUP * 100,
}, async () => {
  const line = faultLine('15', 'fifo order', 'at once=1');
  using folder = new TemporaryFolder();
  const random = faultRandom('15');
  const log = new FifoLog(random);
  const yaml = queueYaml({ folder: folder.path, queues: QUEUES });
  const jobs = GROUPS * JOBS_PER_GROUP;
  for (let round = 0; round <= ENGINE_KILLS; round++) {
    await using engine = await EngineProcess.start(yaml);
    if (round === 0) {
      await using producer = await RawWorker.connect(engine.url);
      for (let n = 0; n < JOBS_PER_GROUP; n++) {
        const orders = Array.from({ length: GROUPS }, (_, group) => ({ group, n }));
        await Promise.all(orders.map((order) => receiptOf(enqueue(producer, 'order', order, { queue: 'orders' }))));
      }
    }
    const isLast = round === ENGINE_KILLS;
    const goal = isLast ? jobs : Math.ceil(((round + 1) * jobs) / (ENGINE_KILLS + 2));
    while (log.doneCount < goal) {
      await using worker = await RawWorker.connect(engine.url);
      const step = Math.min(goal, log.doneCount + random.between(1, 1 + Math.ceil(jobs / 10)));
      await log.work(worker);
      await waitFor('the worker has done its part', () => log.doneCount >= step, 60_000);
    }
    if (isLast) {
      await using worker = await RawWorker.connect(engine.url);
      await log.work(worker);
      await waitFor('nothing is left', async () => (await statsOf(worker, 'orders')).depth === 0, 15_000);
    }
    engine.kill('SIGKILL');
    await engine.end(5_000);
  }
  line.figure = `at once=${log.runningMax}`;
  expect(log.runningMax).toBe(1);
  for (const [group, order] of log.done) {
    // A job that had ended and was not durably done may run once more, before the next one.
    const distinct = order.filter((n, index) => n !== order[index - 1]);
    expect(distinct, `group ${group}`).toEqual(Array.from({ length: JOBS_PER_GROUP }, (_, n) => n));
  }
});

test('[F2] [F4] [fault 16] A group whose head waits for its retry waits, others continue, and it continues when the head is a dead letter', async () => {
  const line = faultLine('16', 'fifo head blocked', 'order=a1,b1,b2,a1,a2');
  await using engine = await startQueueEngine({
    queues: '{orders: {type: fifo, message_group_field: group, max_retries: 1, backoff_ms: 500}}',
  });
  await using worker = await RawWorker.connect(engine.url);
  const seen: string[] = [];
  await worker.serve('order', (data) => {
    const { group, n } = data as { group: string; n: number };
    seen.push(`${group}${n}`);
    if (group === 'a' && n === 1) throw new Error('blocked');
  });
  for (const [group, n] of [
    ['a', 1],
    ['a', 2],
    ['b', 1],
    ['b', 2],
  ] as const) {
    await receiptOf(enqueue(worker, 'order', { group, n }, { queue: 'orders' }));
  }
  await waitFor('all have run', () => seen.length === 5);
  line.figure = `order=${seen}`;
  expect(seen).toEqual(['a1', 'b1', 'b2', 'a1', 'a2']);
  expect((await statsOf(worker, 'orders')).dlq_depth).toBe(1);
});
