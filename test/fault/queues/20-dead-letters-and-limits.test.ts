// Faults 19, 20 and 21: jobs of a function that no worker offers, a redrive that is cut off by kill -9, a full queue.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import {
  deadLettersOf,
  enqueue,
  queueYaml,
  receiptOf,
  startQueueEngine,
  statsOf,
} from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(2);
/** 10 000 dead letters in the long form. */
const LETTERS = Math.min(10_000, 300 * ROUNDS);
const ABSENT_JOBS = Math.min(10_000, 500 * ROUNDS);

function enqueueMany(worker: RawWorker, id: string, count: number, queue: string): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => receiptOf(enqueue(worker, id, { n }, { queue }))));
}

test('[Q10] [fault 20] Each dead letter is in exactly one place, however often its redrive is cut off by kill -9', {
  timeout: 60_000 + ROUNDS * 20_000,
}, async () => {
  const line = faultLine('20', 'dlq redrive', 'wrong runs=0');
  using folder = new TemporaryFolder();
  const random = faultRandom('20');
  const yaml = queueYaml({ folder: folder.path, queues: '{jobs: {max_retries: 0, concurrency: 50}}' });
  const receipts: string[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await using engine = await EngineProcess.start(yaml);
    await using worker = await RawWorker.connect(engine.url);
    if (round === 0) {
      await worker.serve('job', () => {
        throw new Error('dead');
      });
      for (let sent = 0; sent < LETTERS; sent += 300) receipts.push(...(await enqueueMany(worker, 'job', 300, 'jobs')));
      await waitFor('all are dead', async () => (await statsOf(worker, 'jobs')).dlq_depth === receipts.length, 30_000);
      const middle = receipts[Math.floor(receipts.length / 2)];
      const one = await worker.call('svc::queue::redrive_message', { queue: 'jobs', message_id: middle });
      expect(one.result).toMatchObject({ redriven: 1 });
      await waitFor(
        'the jobs are dead letters',
        async () => (await statsOf(worker, 'jobs')).dlq_depth === receipts.length,
      );
    }
    // No job runs: redriven jobs have to wait where they are.
    await worker.call('engine::queue::pause', { queue: 'jobs' });
    worker.startCall('svc::queue::redrive', { queue: 'jobs' });
    const goal = random.between(1, LETTERS);
    await waitFor('some are redriven', async () => {
      const { depth, dlq_depth: dead } = await statsOf(worker, 'jobs');
      expect(depth + dead).toBe(receipts.length);
      return depth >= goal || dead === 0;
    });
    engine.kill('SIGKILL');
    await engine.end(5_000);
  }
  await using engine = await EngineProcess.start(yaml);
  await using worker = await RawWorker.connect(engine.url);
  const runs = new Map<string, number>();
  await worker.serve('job', (_data, { metadata }) => {
    const { messageReceiptId: id } = metadata as { messageReceiptId: string };
    runs.set(id, (runs.get(id) ?? 0) + 1);
  });
  await worker.call('svc::queue::redrive', { queue: 'jobs' });
  await worker.call('engine::queue::resume', { queue: 'jobs' });
  await waitFor('none is left', async () => (await statsOf(worker, 'jobs')).depth === 0, 30_000);
  line.figure = `wrong runs=${[...runs.values()].filter((count) => count !== 1).length}`;
  expect(await deadLettersOf(worker, 'jobs')).toEqual([]);
  expect([...runs.keys()].sort()).toEqual([...receipts].sort());
  expect([...runs.values()].filter((count) => count !== 1)).toEqual([]);
});

test(
  '[Q7] [fault 19] Jobs of an absent function use no attempt, delay no other queue, and all run when it is registered',
  async () => {
    const line = faultLine('19', 'no worker', 'attempts=1');
    await using engine = await startQueueEngine({ queues: '{absent: {concurrency: 20}, other: {}}' });
    await using producer = await RawWorker.connect(engine.url);
    const receipts: string[] = [];
    while (receipts.length < ABSENT_JOBS) receipts.push(...(await enqueueMany(producer, 'absent', 500, 'absent')));
    await waitFor(
      'the jobs wait for their function',
      async () => (await statsOf(producer, 'absent')).states.waiting_for_worker === ABSENT_JOBS,
      15_000 + 5 * ABSENT_JOBS,
    );
    const others: unknown[] = [];
    await producer.serve('present', (data) => others.push(data));
    await enqueueMany(producer, 'present', 100, 'other');
    await waitFor('the other queue is worked on', () => others.length === 100, 15_000);
    await using late = await RawWorker.connect(engine.url);
    const attempts = new Map<string, number>();
    await late.serve('absent', (_data, { metadata }) => {
      const { messageReceiptId: id, attempt } = metadata as { messageReceiptId: string; attempt: number };
      attempts.set(id, attempt);
    });
    await waitFor('all have run', () => attempts.size === receipts.length, 30_000 + 5 * ABSENT_JOBS);
    line.figure = `attempts=${Math.max(...attempts.values())}`;
    expect(new Set(attempts.values())).toEqual(new Set([1]));
  },
  60_000 + 10 * ABSENT_JOBS,
);

test('[Q2] [fault 21] A full queue refuses with QUEUE_FULL, and takes jobs again as soon as it has drained', async () => {
  const line = faultLine('21', 'queue full', 'held=200');
  await using engine = await startQueueEngine({ queues: '{small: {max_jobs: 200, concurrency: 20}}' });
  await using worker = await RawWorker.connect(engine.url);
  await worker.call('engine::queue::pause', { queue: 'small' });
  await enqueueMany(worker, 'job', 200, 'small');
  const refused = await Promise.all(
    Array.from({ length: 300 }, (_, n) => enqueue(worker, 'job', { n }, { queue: 'small' })),
  );
  expect(new Set(refused.map(({ error }) => (error as { reason: string }).reason))).toEqual(new Set(['QUEUE_FULL']));
  const { depth } = await statsOf(worker, 'small');
  line.figure = `held=${depth}`;
  expect(depth).toBe(200);
  const seen: unknown[] = [];
  await worker.serve('job', (data) => seen.push(data));
  await worker.call('engine::queue::resume', { queue: 'small' });
  await waitFor('the queue has drained', () => seen.length === 200, 15_000);
  await waitFor(
    'a job is taken',
    async () => (await enqueue(worker, 'job', {}, { queue: 'small' })).error === undefined,
  );
});
