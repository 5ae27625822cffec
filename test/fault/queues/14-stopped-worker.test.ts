// Faults 14 and 17: a worker that is stopped with jobs and continues later; waits before retries across restarts. Time
// is virtual in both, so that the tests are fast.

import { expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom } from '../../support/load/fault-tools.ts';
import { enqueue, receiptOf, startQueueEngine, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const SILENCE_MS_MAX = 25_000;
const STEP_MS = 500;
const JOBS = 8;

/** Steps in which no active connection counts as silent. */
async function pass(clock: TurningClock, ms: number, talker: RawWorker): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
    clock.advance(Math.min(1_000, leftMs));
    await talker.settled();
  }
}

test('[W1] [Q5] [Q8] Jobs of a worker that is stopped go to another one, and its late results count for nothing', async () => {
  const line = faultLine('14', 'worker stopped', `given away ms<=${SILENCE_MS_MAX},done=${JOBS}`);
  const clock = new TurningClock();
  await using engine = await startQueueEngine({ queues: '{default: {backoff_ms: 1}}' }, clock);
  await using other = await RawWorker.connect(engine.url);
  await using stopped = await WorkerProcess.start(engine.url, 'job', 'answers');
  stopped.kill('SIGSTOP');
  const receipts = await Promise.all(Array.from({ length: JOBS }, (_, n) => receiptOf(enqueue(other, 'job', n))));
  await waitFor('all are with it', async () => (await statsOf(other)).states.running === JOBS);
  const done: Record<string, number[]> = {};
  const fromMs = clock.monotonicMs();
  while (engine.counters.get('connections.closed', 'silent') === 0) await pass(clock, STEP_MS, other);
  const givenAwayMs = clock.monotonicMs() - fromMs;
  await other.serve('job', (_data, { metadata }) => {
    const { messageReceiptId: receipt, attempt } = metadata as { messageReceiptId: string; attempt: number };
    done[receipt] = [...(done[receipt] ?? []), attempt];
  });
  await waitFor('nothing is left', async () => {
    await pass(clock, STEP_MS, other);
    return (await statsOf(other)).depth === 0;
  });
  stopped.kill('SIGCONT');
  await stopped.says('closed');
  await other.settled();
  line.figure = `given away ms=${givenAwayMs},done=${Object.keys(done).length}`;
  expect(givenAwayMs).toBeLessThanOrEqual(SILENCE_MS_MAX);
  expect(done).toEqual(Object.fromEntries(receipts.map((receipt) => [receipt, [2]])));
  expect(await statsOf(other)).toMatchObject({ depth: 0, dlq_depth: 0 });
});

test('[Q4] [fault 17] Waits before a retry follow the formula, also across a restart, and none ends early', {
  // Six engines are started, one after the other.
  timeout: 60_000,
}, async () => {
  const [attempts, backoffMs] = [6, 1_000];
  const line = faultLine('17', 'backoff exactness', 'early=0,ms off<=250');
  using folder = new TemporaryFolder();
  const random = faultRandom('17');
  const queues = `{default: {max_retries: ${attempts - 1}, backoff_ms: ${backoffMs}}}`;
  let clock = new TurningClock();
  let receipt = '';
  let lateMsMax = 0;
  for (let attempt = 1, dueMs = 0; attempt <= attempts; ) {
    await using engine = await startQueueEngine({ folder: folder.path, queues }, clock);
    await using worker = await RawWorker.connect(engine.url);
    const runs = random.between(1, 2);
    if (receipt === '') receipt = await receiptOf(enqueue(worker, 'job', {}));
    await worker.register('job');
    for (let run = 0; run < runs && attempt <= attempts; run++, attempt++) {
      if (attempt > 1) {
        await pass(clock, dueMs - 1 - clock.nowMs(), worker);
        await statsOf(worker);
        expect(worker.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
      }
      const call = await nextCall(worker, clock);
      expect(call.metadata).toMatchObject({ attempt });
      if (dueMs > 0) lateMsMax = Math.max(lateMsMax, clock.nowMs() - dueMs);
      const failedMs = clock.nowMs();
      worker.answer(call, { error: { code: 'no', message: 'again' } });
      if (attempt === attempts) continue;
      const shownMs = await dueAt(worker, clock, receipt);
      dueMs = failedMs + backoffMs * 2 ** (attempt - 1);
      expect(shownMs).toBeGreaterThanOrEqual(dueMs);
    }
    clock = new TurningClock({ startMs: clock.nowMs() });
  }
  line.figure = `early=0,ms off=${lateMsMax}`;
  expect(lateMsMax).toBeLessThanOrEqual(250);
});

/** Advances the clock in single milliseconds. */
async function nextCall(worker: RawWorker, clock: TurningClock): Promise<Frame> {
  await waitFor('the job is handed over', async () => {
    if (worker.frames.some(({ type }) => type === 'invokefunction')) return true;
    clock.advance(1);
    await worker.settled();
    return false;
  });
  return await worker.next('invokefunction');
}

async function dueAt(worker: RawWorker, clock: TurningClock, receipt: string): Promise<number> {
  return await waitFor('the job waits for its retry', async () => {
    clock.advance(1);
    const { result } = await worker.call('engine::queue::job', { messageReceiptId: receipt });
    const { state, due_at: dueMs } = result as { state: string; due_at?: number };
    return state === 'retrying' && dueMs;
  });
}
