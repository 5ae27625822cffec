// Triggers that name a queue, where state and streams are kept in a Redis: each change becomes a job (S5, PD-54).

import { createClient } from '@redis/client';
import { afterAll, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const keyPrefix = newKeyPrefix();

afterAll(() => removeKeys(keyPrefix));

const IN_REDIS = (prefix: string): string =>
  `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${prefix}'}}`;

interface Setup {
  /** Of the queues; by default the Redis of state. */
  readonly queues?: string;
  readonly queue?: string;
  readonly maxPayload?: number;
}

function yamlFor(
  prefix: string,
  { queues = IN_REDIS(prefix), queue = '{concurrency: 8}', ...more }: Setup = {},
): string {
  const { maxPayload } = more;
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-state, config: {adapter: ${IN_REDIS(prefix)}}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: ${IN_REDIS(prefix)}}}
  - name: svc-queue
    config:
      queue_configs: {changes: ${queue}}
      adapter: ${queues}
${maxPayload === undefined ? '' : `      max_payload_bytes: ${maxPayload}\n`}`;
}

interface Event {
  readonly [name: string]: unknown;
}

/** Counts on `seen` what the queue hands over. */
async function serve(worker: RawWorker, seen: Event[]): Promise<void> {
  await worker.serve('changed', (data) => {
    seen.push(data as Event);
    return null;
  });
}

async function bind(worker: RawWorker, type: string, config: object): Promise<void> {
  worker.send({ type: 'registertrigger', id: `t-${type}`, trigger_type: type, function_id: 'changed', config });
  await worker.settled();
}

test('[S5] a change of state becomes a job with the values before and after it', async () => {
  await using engine = await startTestEngine({ yaml: yamlFor(`${keyPrefix}a:`) });
  await using worker = await RawWorker.connect(engine.url);
  const seen: Event[] = [];
  await serve(worker, seen);
  await bind(worker, 'state', { queue: 'changes', scope: 's' });
  await worker.call('state::set', { scope: 's', key: 'k', value: { text: 'ä\n"' } });
  await worker.call('state::set', { scope: 'other', key: 'k', value: 0 });
  await worker.call('state::update', { scope: 's', key: 'k', ops: [{ type: 'set', path: 'n', value: 2 }] });
  await worker.call('state::set', { scope: 's', key: 'k', value: null, if_absent: true });
  await worker.call('state::delete', { scope: 's', key: 'k' });
  await worker.call('state::delete', { scope: 's', key: 'k' });
  await waitFor('three jobs', () => seen.length === 3);
  const place = { type: 'state', scope: 's', key: 'k', timestamp: expect.any(Number), seq: expect.any(Number) };
  const inOrder = seen.toSorted((a, b) => Number(a.seq) - Number(b.seq));
  expect(inOrder).toEqual([
    { ...place, event_type: 'state:updated', old_value: null, new_value: { text: 'ä\n"' } },
    { ...place, event_type: 'state:updated', old_value: { text: 'ä\n"' }, new_value: { text: 'ä\n"', n: 2 } },
    { ...place, event_type: 'state:deleted', old_value: { text: 'ä\n"', n: 2 }, new_value: null },
  ]);
});

test('[S5] a change of a stream becomes a job, and a custom event does not', async () => {
  await using engine = await startTestEngine({ yaml: yamlFor(`${keyPrefix}b:`) });
  await using worker = await RawWorker.connect(engine.url);
  const seen: Event[] = [];
  await serve(worker, seen);
  await bind(worker, 'stream', { queue: 'changes', stream_name: 'chat' });
  const item = { stream_name: 'chat', group_id: 'room', item_id: 'i' };
  await worker.call('stream::set', { ...item, data: { n: 1 } });
  await worker.call('stream::send', { stream_name: 'chat', group_id: 'room', type: 'typing', data: {} });
  await worker.call('stream::update', { ...item, ops: [{ type: 'increment', path: 'n', by: 1 }] });
  await worker.call('stream::delete', item);
  await waitFor('three jobs', () => seen.length === 3);
  const inOrder = seen.toSorted((a, b) => Number(a.seq) - Number(b.seq));
  expect(inOrder).toMatchObject([
    { type: 'create', streamName: 'chat', groupId: 'room', id: 'i', event: { type: 'create', data: { n: 1 } } },
    { type: 'update', id: 'i', event: { type: 'update', data: { n: 2 } } },
    { type: 'delete', id: 'i', event: { type: 'delete', data: { n: 2 } } },
  ]);
  expect(new Set(inOrder.map(({ epoch }) => epoch)).size).toBe(1);
});

test('[S5] a change whose job would be too large for its queue is refused, and not made', async () => {
  await using engine = await startTestEngine({ yaml: yamlFor(`${keyPrefix}c:`, { maxPayload: 1_000 }) });
  await using worker = await RawWorker.connect(engine.url);
  await serve(worker, []);
  await bind(worker, 'state', { queue: 'changes' });
  const { error } = await worker.call('state::set', { scope: 's', key: 'k', value: 'x'.repeat(1_000) });
  expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining("queue 'changes'") });
  expect((await worker.call('state::get', { scope: 's', key: 'k' })).result).toBeNull();
});

test('[S5] jobs of an engine that ended before it moved them are moved by another one', async () => {
  const prefix = `${keyPrefix}d:`;
  const yaml = yamlFor(prefix);
  await using redis = await redisClient();
  await using two = await startTestEngine({ yaml });
  await using right = await RawWorker.connect(two.url);
  const seen: Event[] = [];
  await serve(right, seen);
  {
    await using one = await startTestEngine({ yaml });
    await using left = await RawWorker.connect(one.url);
    await left.register('changed');
    await bind(left, 'state', { queue: 'changes' });
    await left.call('state::set', { scope: 's', key: 'first', value: 0 });
    await waitFor('the outbox is empty', async () => (await outboxOf(redis, prefix)).every(({ jobs }) => jobs === 0));
    const [outbox] = await outboxOf(redis, prefix);
    // Another engine has a page in hand.
    await redis.set(`${outbox?.key.replace(/:jobs$/, '')}:lease`, 'another engine', { PX: 60_000 });
    await left.call('state::set', { scope: 's', key: 'k', value: 1 });
    expect((await outboxOf(redis, prefix))[0]?.jobs).toBe(1);
  }
  await redis.del((await redis.keys(`${prefix}*:lease`))[0] ?? '');
  await waitFor('the job', () => seen.some(({ key }) => key === 'k'));
});

async function redisClient() {
  const client = createClient({ url: SHARED_REDIS });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.destroy() });
}

async function outboxOf(redis: Awaited<ReturnType<typeof redisClient>>, prefix: string) {
  const keys = await redis.keys(`${prefix}*outbox*:next`);
  const names = keys.map((key) => key.replace(/:next$/, ':jobs'));
  return await Promise.all(names.map(async (key) => ({ key, jobs: await redis.zCard(key) })));
}

test('[S5] [F3] jobs of one group keep the order of the changes, whichever engine made them', async () => {
  const queue = '{type: fifo, message_group_field: key}';
  const yaml = yamlFor(`${keyPrefix}e:`, { queue });
  await using one = await startTestEngine({ yaml });
  await using two = await startTestEngine({ yaml });
  await using left = await RawWorker.connect(one.url);
  await using right = await RawWorker.connect(two.url);
  const seen: Event[] = [];
  for (const worker of [left, right]) {
    await serve(worker, seen);
    await bind(worker, 'state', { queue: 'changes' });
  }
  const change = (worker: RawWorker, n: number) =>
    worker.call('state::set', { scope: 's', key: `k${n % 3}`, value: n });
  await Promise.all(Array.from({ length: 300 }, (_, n) => change(n % 2 ? left : right, n)));
  await waitFor('all jobs', () => seen.length === 300, 30_000);
  for (const key of ['k0', 'k1', 'k2']) {
    const seqs = seen.filter((event) => event.key === key).map(({ seq }) => Number(seq));
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  }
});

test('[S5] a queue in a directory takes the jobs of changes in a Redis', async () => {
  using folder = new TemporaryFolder();
  const queues = `{name: builtin, config: {file_path: ${folder.path}}}`;
  await using engine = await startTestEngine({ yaml: yamlFor(`${keyPrefix}f:`, { queues }) });
  await using worker = await RawWorker.connect(engine.url);
  const seen: Event[] = [];
  await serve(worker, seen);
  await bind(worker, 'state', { queue: 'changes' });
  await worker.call('state::set', { scope: 's', key: 'k', value: 1 });
  await waitFor('the job', () => seen.length === 1);
});

test('[S5] a queue in memory is refused, with what to configure', async () => {
  const queues = '{name: builtin, config: {store_method: in_memory}}';
  await using engine = await startTestEngine({ yaml: yamlFor(`${keyPrefix}g:`, { queues }) });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('changed');
  const config = { queue: 'changes' };
  const { error } = await worker.call('engine::register_trigger', { type: 'state', function_id: 'changed', config });
  expect(error).toMatchObject({ message: expect.stringContaining('store_method: file_based') });
});

test('[S5] an engine that starts reports jobs that wait for the queues of another place', async () => {
  const prefix = `${keyPrefix}h:`;
  await using redis = await redisClient();
  await redis.sAdd(`${prefix}state:outboxes`, 'another-host /data');
  await redis.zAdd(`${prefix}state:outbox:{another-host%20%2Fdata}:jobs`, { score: 1, value: '1' });
  await using engine = await startTestEngine({ yaml: yamlFor(prefix) });
  await waitFor('the warning', () => engine.log.some((line) => line.includes('another-host /data')));
});
