// Faults 2, 11, 13 and 18, the part of queues: an engine that is killed or drained at any moment, workers that are
// killed, a job that takes the engine with it. Nothing acknowledged is lost, and nothing durably done runs again.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { JobLedger } from '../../support/stores/job-ledger.ts';
import { deadLettersOf, enqueue, queueYaml, receiptOf, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);
const CONCURRENCY = 10;

test('[Q1] [R2] [fault 2] Every receipt names a job that is done after kill -9 at any moment, and few are handed over twice', {
  timeout: 20_000 + ROUNDS * 20_000,
}, async () => {
  const line = faultLine('2', 'kill while consuming', `lost=0,again<=${ROUNDS * 3 * CONCURRENCY}`);
  using folder = new TemporaryFolder();
  const random = faultRandom('2');
  const ledger = new JobLedger();
  const yaml = queueYaml({ folder: folder.path });
  for (let round = 0; round < ROUNDS; round++) {
    await using engine = await EngineProcess.start(yaml);
    await using producer = await RawWorker.connect(engine.url);
    await using worker = await RawWorker.connect(engine.url);
    await ledger.serve(worker, 'job');
    const goal = ledger.receipts.size + random.between(1, 2_000);
    ledger.produce(producer, 'job', 64);
    await waitFor('the producers are at work', () => ledger.receipts.size >= goal, 15_000);
    engine.kill('SIGKILL');
    await engine.end(5_000);
  }
  await using engine = await EngineProcess.start(yaml);
  await using worker = await RawWorker.connect(engine.url);
  await ledger.serve(worker, 'job');
  expect(await ledger.lost(worker)).toEqual([]);
  expect(ledger.retried.size).toBe(0);
  // Jobs that ran, or had ended and were not durable yet, when the engine was killed; a step in progress holds as many
  // again.
  const again = [...ledger.starts.values()].filter((starts) => starts > 1).length;
  line.figure = `lost=0,again=${again}`;
  expect(again).toBeLessThanOrEqual(ROUNDS * 3 * CONCURRENCY);
});

test('[G2] [G1] [fault 11] A drain under load loses nothing, uses no attempt and hands no finished job over twice', {
  timeout: 20_000 + ROUNDS * 20_000,
}, async () => {
  const line = faultLine('11', 'drain under load', 'lost=0,again=0,burned=0');
  using folder = new TemporaryFolder();
  const ledger = new JobLedger();
  const yaml = queueYaml({ folder: folder.path, drainTimeoutMs: 300 });
  const random = faultRandom('11');
  for (let round = 0; round < ROUNDS; round++) {
    await using engine = await EngineProcess.start(yaml);
    await using producer = await RawWorker.connect(engine.url);
    await using worker = await RawWorker.connect(engine.url);
    await ledger.serve(worker, 'job');
    await worker.register('endless');
    await enqueue(producer, 'endless', {});
    const goal = ledger.receipts.size + random.between(1, 1_000);
    ledger.produce(producer, 'job', 64);
    await waitFor('the producers are at work', () => ledger.receipts.size >= goal, 15_000);
    engine.kill('SIGTERM');
    expect(await engine.end(6_000)).toEqual({ code: 0, signal: null });
  }
  await using engine = await EngineProcess.start(yaml);
  await using worker = await RawWorker.connect(engine.url);
  await ledger.serve(worker, 'job');
  const attempts: unknown[] = [];
  await worker.serve('endless', (_data, { metadata }) => attempts.push((metadata as { attempt: number }).attempt));
  expect(await ledger.lost(worker)).toEqual([]);
  line.figure = `lost=0,burned=${attempts.filter((attempt) => attempt !== 1).length}`;
  expect(attempts).toEqual(Array.from({ length: ROUNDS }, () => 1));
  expect([...ledger.starts.values()].filter((starts) => starts > 1)).toEqual([]);
});

test('[Q5] [fault 13] Workers that are killed with jobs use one attempt of each, and no job is lost', {
  timeout: 60_000 + ROUNDS * 5_000,
}, async () => {
  const line = faultLine('13', 'worker killed mid-job', 'lost=0');
  using folder = new TemporaryFolder();
  const queues = '{default: {max_retries: 100, backoff_ms: 1}}';
  await using engine = await EngineProcess.start(queueYaml({ folder: folder.path, queues }));
  await using producer = await RawWorker.connect(engine.url);
  const ledger = new JobLedger();
  ledger.produce(producer, 'job', 16);
  const handed = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const victim = await RawWorker.connect(engine.url);
    await victim.register('job');
    const { metadata } = await victim.next('invokefunction');
    const { messageReceiptId: receipt, attempt } = metadata as { messageReceiptId: string; attempt: number };
    expect(attempt).toBe((handed.get(receipt) ?? 0) + 1);
    for (const frame of [{ metadata }, ...victim.frames.filter(({ type }) => type === 'invokefunction')]) {
      const each = frame.metadata as { messageReceiptId: string; attempt: number };
      handed.set(each.messageReceiptId, each.attempt);
    }
    await victim[Symbol.asyncDispose]();
  }
  producer.close();
  await using worker = await RawWorker.connect(engine.url);
  await ledger.serve(worker, 'job');
  const lost = await ledger.lost(worker);
  line.figure = `lost=${lost.length}`;
  expect(lost).toEqual([]);
});

test('[Q6] [fault 18] A job that ends the engine each time becomes a dead letter as poison', {
  timeout: 120_000,
}, async () => {
  const line = faultLine('18', 'poison', 'deliveries=6');
  using folder = new TemporaryFolder();
  const yaml = queueYaml({ folder: folder.path, queues: '{default: {max_retries: 0}}' });
  let receipt = '';
  let deliveries = 0;
  for (let start = 0; start < 8; start++) {
    await using engine = await EngineProcess.start(yaml);
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('deadly');
    if (start === 0) receipt = await receiptOf(enqueue(worker, 'deadly', { kill: true }));
    const stats = await waitFor('the job is handed over or a dead letter', async () => {
      const now = await statsOf(worker);
      return (now.dlq_depth > 0 || worker.frames.some(({ type }) => type === 'invokefunction')) && now;
    });
    if (stats.dlq_depth > 0) {
      expect((await deadLettersOf(worker))[0]).toMatchObject({ id: receipt, reason: 'poison', retries: 0 });
      break;
    }
    deliveries++;
    engine.kill('SIGKILL');
    await engine.end(5_000);
  }
  line.figure = `deliveries=${deliveries}`;
  expect(deliveries).toBe(6);
});
