// A Redis of queues that goes back in time: restored from a backup, or emptied.

import { describe, expect, test } from 'vitest';
import type { QueueRecoveryAnswer } from '../../../src/modules/queue/function-answers.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { IS_PAIRED } from '../../support/cluster/paired-engines.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { enqueue, receiptOf, statsOf } from '../../support/stores/queue-engine.ts';
import { NO_REDIS_SERVER, type RedisServer } from '../../support/stores/redis-server.ts';
import { RedisWithBackup } from '../../support/stores/redis-with-backup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runSvc } from '../cli/cli-process.ts';

/** `npm run test:cluster` starts a pair. */
const ENGINES = IS_PAIRED ? 2 : 1;

const MAIL = { queue: 'mail' };

const yamlOn = ({ url }: RedisServer): string => `
drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-queue
    config: {queue_configs: {mail: {}}, adapter: {name: extstore, config: {redis_url: '${url}'}}}
`;

async function recovery(worker: RawWorker): Promise<QueueRecoveryAnswer> {
  const { result, error } = await worker.call('engine::queue::recovery', {});
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result as QueueRecoveryAnswer;
}

const allReported = (worker: RawWorker): Promise<QueueRecoveryAnswer> =>
  waitFor('all engines have reported', async () => {
    const found = await recovery(worker);
    const reported = found.engines.filter(({ has_reported: hasReported }) => hasReported);
    return reported.length === ENGINES && found.engines.length === ENGINES ? found : undefined;
  });

const isHeldBack = (worker: RawWorker) => async () => {
  const { result } = await worker.call('engine::health::check', {});
  return JSON.stringify(result).includes('QUEUE_STORE_OLDER');
};

const recover = async (worker: RawWorker, doneJobs: string) =>
  await worker.call('svc::queue::recover', { done_jobs: doneJobs });

const takesJob = (worker: RawWorker, data: unknown) => async () =>
  (await enqueue(worker, 'send', data, MAIL)).error === undefined;

async function waitingForWorker(worker: RawWorker): Promise<number> {
  const { result } = await worker.call('engine::queue::jobs', { ...MAIL, state: 'waiting_for_worker' });
  return (result as { items: unknown[] }).items.length;
}

/** Three jobs wait for their function in the backup, and have run since. */
async function runAfterBackup(redis: RedisWithBackup, worker: RawWorker): Promise<{ ran: unknown[]; ids: string[] }> {
  const ran: unknown[] = [];
  const ids: string[] = [];
  for (const n of [1, 2, 3]) ids.push(await receiptOf(enqueue(worker, 'send', n, MAIL)));
  await waitFor('the jobs wait for their function', async () => (await waitingForWorker(worker)) === 3);
  redis.backUp();
  await worker.serve('send', (data) => ran.push(data));
  await waitFor('the jobs have run', async () => ran.length === 3 && (await statsOf(worker, 'mail')).depth === 0);
  return { ran, ids };
}

/** An engine on a Redis that can go back, and a worker of it. */
async function start() {
  const redis = await RedisWithBackup.start();
  const engine = await startTestEngine({ yaml: yamlOn(redis.server) });
  const worker = await RawWorker.connect(engine.url);
  return {
    ...{ redis, engine, worker },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(NO_REDIS_SERVER)(`a Redis that goes back in time ${NO_REDIS_SERVER ?? ''}`, () => {
  test.each([
    ['discard', { discarded: 3 }, [1, 2, 3, 4]],
    ['run_again', { discarded: 0 }, [1, 1, 2, 2, 3, 3, 4]],
  ])(
    '[R7] [fault 64] hands no job over until a person decides what happens to done jobs: %s',
    async (done, answer, all) => {
      await using started = await start();
      const { redis, worker } = started;
      const { ran, ids } = await runAfterBackup(redis, worker);
      await redis.goBack();
      await waitFor('jobs are held back', isHeldBack(worker), 20_000);
      await enqueue(worker, 'send', 4, MAIL);
      const found = await allReported(worker);
      expect(found).toMatchObject({ is_needed: true, jobs: 4, run_again_total: 3 });
      expect(found.run_again.map(({ messageReceiptId: id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(found.run_again[0]).toMatchObject({ queue: 'mail', function_id: 'send', state: 'done' });
      expect(ran).toEqual([1, 2, 3]);
      expect((await recover(worker, done)).result).toEqual(answer);
      await waitFor('no job is left', async () => (await statsOf(worker, 'mail')).depth === 0);
      expect(ran.toSorted()).toEqual(all);
      expect(await isHeldBack(worker)()).toBe(false);
      expect(await recovery(worker)).toMatchObject({ is_needed: false, run_again_total: 0 });
      expect((await recover(worker, done)).error).toMatchObject({ code: 'BAD_REQUEST' });
    },
    60_000,
  );

  test('[R7] [fault 64] holds jobs back from all engines, also from those that knew less', async () => {
    await using started = await start();
    const { redis, worker } = started;
    const { ran } = await runAfterBackup(redis, worker);
    await using other = await startTestEngine({ yaml: yamlOn(redis.server) });
    await using otherWorker = await RawWorker.connect(other.url);
    await otherWorker.serve('send', (data) => ran.push(data));
    await redis.goBack();
    await waitFor('jobs are held back here', isHeldBack(worker), 20_000);
    await waitFor('jobs are held back there', isHeldBack(otherWorker), 20_000);
    await waitFor(
      'the engine that ran them has reported',
      async () => (await recovery(otherWorker)).run_again_total === 3,
    );
    expect((await recover(otherWorker, 'discard')).result).toEqual({ discarded: 3 });
    await waitFor('jobs are handed over', async () => !(await isHeldBack(worker)()), 20_000);
    await enqueue(worker, 'send', 4, MAIL);
    await waitFor('the new job has run', () => ran.length === 4);
    expect(ran).toEqual([1, 2, 3, 4]);
  }, 60_000);

  test('[R7] [console 6.5] svc queue recover lists the jobs that would run again, and hands the others over', async () => {
    await using started = await start();
    const { redis, engine, worker } = started;
    const svc = (...flags: string[]) => runSvc(['queue', 'recover', ...flags, '--url', engine.url]);
    expect(await svc()).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to recover') });
    const { ran, ids } = await runAfterBackup(redis, worker);
    await redis.goBack();
    await waitFor('jobs are held back', isHeldBack(worker), 20_000);
    await allReported(worker);
    const shown = await svc();
    expect(shown.code).toBe(0);
    expect(shown.stderr).toMatch(
      new RegExp(
        `has forgotten at least \\d+ changes.*\n3 of 3 jobs would run again; ${ENGINES} of ${ENGINES} engines`,
        's',
      ),
    );
    for (const id of ids) expect(shown.stdout).toMatch(new RegExp(`${id} +mail +send +done`));
    expect(JSON.parse((await svc('--json')).stdout)).toMatchObject({ is_needed: true, run_again_total: 3 });
    expect(await svc('--run-again', '--discard-done')).toMatchObject({ code: 2 });
    const done = await svc('--discard-done');
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('3 that were done are discarded') });
    await enqueue(worker, 'send', 4, MAIL);
    await waitFor('the new job has run', () => ran.length === 4);
  }, 60_000);

  test('[R7] [fault 64] keeps a job that still runs: it may fail', async () => {
    await using started = await start();
    const { redis, worker } = started;
    await enqueue(worker, 'slow', 1, MAIL);
    await waitFor('it waits for its function', async () => (await waitingForWorker(worker)) === 1);
    redis.backUp();
    await worker.register('slow');
    const first = await worker.next('invokefunction');
    await redis.goBack();
    await waitFor('jobs are held back', isHeldBack(worker), 20_000);
    expect(await recovery(worker)).toMatchObject({ run_again: [{ state: 'running' }] });
    expect((await recover(worker, 'discard')).result).toEqual({ discarded: 0 });
    worker.answer(first);
    worker.answer(await worker.next('invokefunction'));
    await waitFor('no job is left', async () => (await statsOf(worker, 'mail')).depth === 0);
  }, 60_000);

  test('[R7] [fault 64] does not run a job again whose hand-over it knows', async () => {
    await using started = await start();
    const { redis, worker } = started;
    await worker.register('slow');
    await enqueue(worker, 'slow', 1, MAIL);
    const first = await worker.next('invokefunction');
    redis.backUp();
    await enqueue(worker, 'slow', 2, MAIL);
    const second = await worker.next('invokefunction', ({ data }) => data === 2);
    await redis.goBack();
    await waitFor('jobs are held back', isHeldBack(worker), 20_000);
    expect(await recovery(worker)).toMatchObject({ jobs: 1, run_again: [] });
    await recover(worker, 'run_again');
    for (const call of [first, second]) worker.answer(call);
    await waitFor('no job is left', async () => (await statsOf(worker, 'mail')).depth === 0);
    await worker.settled();
    expect(worker.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
  }, 60_000);

  test('[R7] [fault 64] runs a job again that this engine ran, and that its Redis takes for running', async () => {
    await using started = await start();
    const { redis, worker } = started;
    await worker.register('slow');
    await enqueue(worker, 'slow', 1, MAIL);
    const first = await worker.next('invokefunction');
    redis.backUp();
    worker.answer(first);
    await waitFor('it is done', async () => (await statsOf(worker, 'mail')).depth === 0);
    await redis.goBack();
    await waitFor('jobs are held back', isHeldBack(worker), 20_000);
    expect(await recovery(worker)).toMatchObject({ jobs: 1, run_again: [{ state: 'done' }] });
    await recover(worker, 'run_again');
    worker.answer(await worker.next('invokefunction', (frame) => frame !== first));
    await waitFor('no job is left', async () => (await statsOf(worker, 'mail')).depth === 0);
  }, 60_000);

  test('[R7] [fault 64] hands jobs over after a restart that lost nothing', async () => {
    await using started = await start();
    const { redis, worker } = started;
    const { ran } = await runAfterBackup(redis, worker);
    await redis.restart();
    await waitFor('Redis takes a job', takesJob(worker, 4), 20_000);
    await waitFor('the job has run', () => ran.length === 4);
    expect(await recovery(worker)).toMatchObject({ is_needed: false, changes_missing: 0 });
  }, 60_000);

  test('[R7] [fault 64] takes and runs new jobs at once when it has none, and the log says what is lost', async () => {
    await using started = await start();
    const { redis, engine, worker } = started;
    const { ran } = await runAfterBackup(redis, worker);
    await redis.loseAll();
    await waitFor('Redis takes a job', takesJob(worker, 4), 20_000);
    await waitFor('the job has run', () => ran.length === 4);
    expect(engine.log.join('\n')).toMatch(/QUEUE_STORE_OLDER.*it was emptied/);
  }, 60_000);

  test('[R7] takes and runs new jobs when it was emptied while engines use it', async () => {
    await using started = await start();
    const { redis, worker } = started;
    const { ran } = await runAfterBackup(redis, worker);
    await redis.server.command('FLUSHALL');
    for (const n of [4, 5]) await receiptOf(enqueue(worker, 'send', n, MAIL));
    await waitFor('the jobs have run', () => ran.length === 5);
    expect(await recovery(worker)).toMatchObject({ is_needed: false });
  }, 60_000);
});
