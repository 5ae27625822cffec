// `svc queue …` and `svc trigger --queue … --wait` as real processes against a real engine.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { enqueue, receiptOf, startQueueEngine, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { finished, runSvc, spawnSvc, waitForText } from './cli-process.ts';

const QUEUES = '{mail: {max_retries: 0, concurrency: 4}, orders: {type: fifo, message_group_field: order}}';

async function start() {
  const engine = await startQueueEngine({ queues: QUEUES });
  const worker = await RawWorker.connect(engine.url);
  const svc = (...args: string[]) => runSvc([...args, '--url', engine.url]);
  return {
    worker,
    svc,
    url: engine.url,
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Makes dead letters of `mail::fail`, one for each text. */
async function die({ worker }: Started, ...texts: string[]): Promise<string[]> {
  await worker.serve('mail::fail', (payload) => {
    throw (payload as { text: string }).text;
  });
  const receipts: string[] = [];
  for (const text of texts) receipts.push(await receiptOf(enqueue(worker, 'mail::fail', { text }, { queue: 'mail' })));
  await waitFor('all are dead letters', async () => (await statsOf(worker, 'mail')).dlq_depth === texts.length);
  return receipts;
}

describe('svc queue', () => {
  test('[console 6.5] list, info and jobs show the state of jobs; an unknown queue is exit code 3', async () => {
    await using started = await start();
    const { svc, worker } = started;
    await receiptOf(enqueue(worker, 'mail::unoffered', { n: 1 }, { queue: 'mail' }));
    const listed = await svc('queue', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toContainEqual(
      expect.objectContaining({ name: 'mail', type: 'standard', adapter: 'builtin', enqueued_total: 1, dead: 0 }),
    );
    expect((await svc('queue', 'list', '--plain')).stdout).toMatch(/^orders\tfifo\t/m);
    const info = await svc('queue', 'info', 'orders', '--json');
    expect(JSON.parse(info.stdout)).toMatchObject({ name: 'orders', config: { message_group_field: 'order' } });
    await waitFor('it waits', async () => (await statsOf(worker, 'mail')).states.waiting_for_worker === 1);
    const jobs = JSON.parse((await svc('queue', 'jobs', 'mail', '--json')).stdout);
    expect(jobs).toMatchObject([{ state: 'waiting_for_worker', function_id: 'mail::unoffered', attempt: 0 }]);
    expect((await svc('queue', 'jobs', 'mail', '--status', 'running', '--json')).stdout).toBe('[]\n');
    expect(await svc('queue', 'info', 'mial')).toMatchObject({ code: 3, stderr: expect.stringContaining('mail') });
  });

  test('[console 6.5] list --watch prints a line every second, with the jobs that arrived', async () => {
    await using started = await start();
    const child = spawnSvc(['queue', 'list', '--watch', '--json', '--url', started.url]);
    const over = finished(child);
    await waitForText(child.stdout, /\n/);
    await receiptOf(enqueue(started.worker, 'mail::unoffered', {}, { queue: 'mail' }));
    await waitForText(child.stdout, /"name":"mail"[^}]*"in_per_second":[1-9]/);
    child.kill('SIGINT');
    const { code, stdout } = await over;
    expect(code).toBe(130);
    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('queues');
  });

  test('[console 6.5] publish prints the receipt of a job, or the number of subscribers of a topic', async () => {
    await using started = await start();
    const { svc, worker } = started;
    const job = await svc('queue', 'publish', 'mail', '{"to":"ann"}', '--function', 'mail::send', '--delay', '1h');
    const { messageReceiptId } = JSON.parse(job.stdout);
    const [row] = JSON.parse((await svc('queue', 'jobs', 'mail', '--status', 'delayed', '--json')).stdout);
    expect(row).toMatchObject({ messageReceiptId, function_id: 'mail::send' });
    // Two clocks, each read in whole milliseconds.
    const delayMs = Date.parse(row.due_at) - Date.parse(row.enqueued_at);
    expect(Math.abs(delayMs - 3_600_000)).toBeLessThan(5);
    expect(await svc('queue', 'publish', 'mail', '{}')).toMatchObject({ code: 2 });
    const unknown = await svc('queue', 'publish', 'user.created', 'id:=7');
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(unknown.stderr).toContain('If it is meant as a new topic, add --topic.');
    expect(await svc('queue', 'publish', 'user.created', 'id:=7', '--topic')).toMatchObject({ code: 0, stdout: '' });
    await waitFor('it is kept', async () => (await statsOf(worker, 'user.created')).depth === 1);
    expect(await svc('queue', 'publish', 'nowhere', '{}', '--function', 'mail::send')).toMatchObject({ code: 3 });
  });

  test('[console 6.5] a paused queue starts no job until it is resumed', async () => {
    await using started = await start();
    const { svc, worker } = started;
    const seen: unknown[] = [];
    await worker.serve('mail::send', (payload) => seen.push(payload));
    expect(await svc('queue', 'pause', 'mail')).toMatchObject({ code: 0, stdout: '' });
    await receiptOf(enqueue(worker, 'mail::send', 1, { queue: 'mail' }));
    expect((await statsOf(worker, 'mail')).states.waiting).toBe(1);
    expect(JSON.parse((await svc('queue', 'resume', 'mail', '--json')).stdout)).toEqual({
      queue: 'mail',
      paused: false,
    });
    await waitFor('it has run', () => seen.length === 1);
    expect(await svc('queue', 'pause', 'mial')).toMatchObject({ code: 3 });
  });
});

describe('svc queue dlq', () => {
  test('[QUE-3] list shows dead letters, or groups them by error without numbers and ids', async () => {
    await using started = await start();
    const { svc } = started;
    const [first = ''] = await die(started, 'box 7 full', 'box 12 full', 'no address');
    const rows = JSON.parse((await svc('queue', 'dlq', 'list', 'mail', '--json')).stdout);
    expect(rows.map(({ error }: { error: string }) => error)).toEqual([
      'invocation_failed: no address',
      'invocation_failed: box 12 full',
      'invocation_failed: box 7 full',
    ]);
    const groups = JSON.parse((await svc('queue', 'dlq', 'list', '--group-by', 'error', '--json')).stdout);
    expect(groups).toMatchObject([
      { queue: 'mail', error: 'invocation_failed: box <n> full', count: 2 },
      { queue: 'mail', error: 'invocation_failed: no address', count: 1 },
    ]);
    const shown = JSON.parse((await svc('queue', 'dlq', 'show', first, '--json')).stdout);
    expect(shown).toMatchObject({ queue: 'mail', payload: { text: 'box 7 full' }, reason: 'failed' });
    expect(await svc('queue', 'dlq', 'show', 'nothing')).toMatchObject({ code: 3 });
  });

  test('[console 6.5] redrive selects by receipt, error, age or all, and reports the counts', async () => {
    await using started = await start();
    const { svc, worker } = started;
    const [first = '', second = ''] = await die(started, 'box 7 full', 'box 12 full', 'no address');
    const seen: unknown[] = [];
    await worker.serve('mail::fail', (payload) => seen.push(payload));
    const choose = ['queue', 'dlq', 'redrive'];
    expect(await svc(...choose)).toMatchObject({ code: 2 });
    expect(await svc(...choose, '--all', '--error', 'x')).toMatchObject({ code: 2 });
    // `dlq list` takes the name of a queue here.
    const says = (text: string) => expect.stringContaining(text);
    expect(await svc(...choose, 'mail', '--all')).toMatchObject({ code: 2, stderr: says('--queue <queue>') });
    expect(await svc(...choose, 'mail')).toMatchObject({ code: 3, stderr: says('--queue <queue> --all') });
    const dry = await svc(...choose, '--error', 'box <n> full', '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toEqual({ dry_run: true, would_redrive: 2 });
    const edited = await svc(...choose, first, '--payload', '{"text":"fixed"}', '--json');
    expect(JSON.parse(edited.stdout)).toEqual({ redriven: 1, failed: 0, skipped: 0 });
    await waitFor('it has run', () => seen.length === 1);
    expect(seen).toEqual([{ text: 'fixed' }]);
    expect(await svc(...choose, first)).toMatchObject({ code: 3 });
    expect(JSON.parse((await svc(...choose, '--older-than', '1h', '--json')).stdout).redriven).toBe(0);
    expect(JSON.parse((await svc(...choose, '--all', '--queue', 'mail', '--rate', '50/s', '--json')).stdout)).toEqual({
      redriven: 2,
      failed: 0,
      skipped: 0,
    });
    await waitFor('they have run', () => seen.length === 3);
    expect(await svc(...choose, second, '--rate', '5')).toMatchObject({ code: 2 });
  });

  test('[console 6.5] discard and purge delete dead letters, purge only with --yes', async () => {
    await using started = await start();
    const { svc, worker } = started;
    const [first = ''] = await die(started, 'a', 'b', 'c');
    expect(JSON.parse((await svc('queue', 'dlq', 'discard', first, '--json')).stdout)).toMatchObject({ discarded: 1 });
    expect(await svc('queue', 'dlq', 'purge', 'mail', '--all')).toMatchObject({ code: 2 });
    expect((await statsOf(worker, 'mail')).dlq_depth).toBe(2);
    const purged = await svc('queue', 'dlq', 'purge', 'mail', '--error', 'invocation_failed: b', '--yes', '--json');
    expect(JSON.parse(purged.stdout)).toEqual({ discarded: 1, failed: 0, skipped: 0 });
    expect(JSON.parse((await svc('queue', 'dlq', 'purge', 'mail', '--all', '--yes', '--json')).stdout).discarded).toBe(
      1,
    );
    expect((await statsOf(worker, 'mail')).dlq_depth).toBe(0);
  });
});

test('[CLI-21] trigger --queue --wait follows the job and prints its outcome', async () => {
  await using started = await start();
  const { svc, worker } = started;
  await worker.serve('mail::send', () => ({ thrown: 'away' }));
  const call = (id: string, ...more: string[]) => svc('trigger', id, '--queue', 'mail', '--wait', ...more);
  const done = await call('mail::send', 'to=ann');
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ state: 'done', function_id: 'mail::send', attempt: 1 });
  await worker.serve('mail::fail', () => {
    throw new Error('no');
  });
  const dead = await call('mail::fail');
  expect(dead.code).toBe(1);
  const letter = JSON.parse(dead.stdout);
  expect(letter).toMatchObject({ state: 'dead', error: expect.stringContaining('no') });
  expect(dead.stderr).toContain(`svc queue dlq show ${letter.messageReceiptId}`);
  expect((await svc('queue', 'dlq', 'show', letter.messageReceiptId)).code).toBe(0);
  expect(await call('mail::unoffered', '--timeout', '3s')).toMatchObject({ code: 4 });
  expect(await svc('trigger', 'mail::send', '--wait')).toMatchObject({ code: 2 });
});
