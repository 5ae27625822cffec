// Triggers of state and streams that name a queue (S5, PD-54): a change is stored together with its job.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { enqueue, statsOf } from '../../support/stores/queue-engine.ts';
import { treeOf } from '../../support/telemetry/traces.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Places {
  readonly state: string;
  readonly queue: string;
}

const yaml = ({ state, queue }: Places, queues = '{changes: {max_retries: 2, backoff_ms: 10}}'): string => `
drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {adapter: {name: kv, config: {${state}}}}
  - name: svc-queue
    config: {queue_configs: ${queues}, adapter: {${queue}}}
`;

const inFolder = (folder: string): string => `file_path: ${folder}`;
const builtin = (place: string): string => `name: builtin, config: {${place}}`;

async function bind(worker: RawWorker, config: object): Promise<unknown> {
  worker.send({ type: 'registertrigger', id: 't1', trigger_type: 'state', function_id: 'changed', config });
  await worker.settled();
  return worker.frames.find(({ type }) => type === 'triggerregistrationresult')?.error;
}

const set = (worker: RawWorker, key: string, value: unknown) =>
  worker.call('state::set', { scope: 'orders', key, value });

test.each(['one folder', 'two folders'])(
  '[S5] A change becomes a job that is retried when it fails: %s',
  async (how) => {
    using folder = new TemporaryFolder();
    const queue = how === 'one folder' ? folder.path : `${folder.path}/queue`;
    const places = { state: inFolder(folder.path), queue: builtin(inFolder(queue)) };
    await using engine = await startTestEngine({ yaml: yaml(places) });
    await using worker = await RawWorker.connect(engine.url);
    const seen: unknown[] = [];
    await worker.serve('changed', (data, { metadata }) => {
      const { attempt } = metadata as { attempt: number };
      seen.push([attempt, (data as { new_value: unknown }).new_value]);
      if (attempt === 1) throw new Error('not yet');
    });
    expect(await bind(worker, { scope: 'orders', queue: 'changes' })).toBeUndefined();
    await worker.call('state::set', { scope: 'others', key: 'a', value: 0 });
    await set(worker, 'a', 1);
    await set(worker, 'a', 2);
    await waitFor('both jobs have had two attempts', () => seen.length === 4);
    expect(seen.filter((call) => (call as [number])[0] === 2).toSorted()).toEqual([
      [2, 1],
      [2, 2],
    ]);
  },
);

test.each(['one folder', 'two folders'])(
  '[S5] Jobs of changes wait for their function over a restart: %s',
  async (how) => {
    using folder = new TemporaryFolder();
    const queue = how === 'one folder' ? folder.path : `${folder.path}/queue`;
    const text = yaml({ state: inFolder(folder.path), queue: builtin(inFolder(queue)) });
    {
      await using engine = await startTestEngine({ yaml: text });
      await using worker = await RawWorker.connect(engine.url);
      await bind(worker, { queue: 'changes' });
      for (let value = 0; value < 5; value++) await set(worker, 'a', value);
      await waitFor('five jobs wait', async () => (await statsOf(worker, 'changes')).depth === 5);
    }
    await using engine = await startTestEngine({ yaml: text });
    await using worker = await RawWorker.connect(engine.url);
    const values: unknown[] = [];
    await worker.serve('changed', (data) => values.push((data as { new_value: unknown }).new_value));
    await waitFor('all five jobs have run', () => values.length === 5);
    // A standard queue promises no order: jobs that were parked may come after the others.
    expect(values.toSorted()).toEqual([0, 1, 2, 3, 4]);
    // Its trigger ended with the connection that made it: a change before the next trigger becomes no job.
    await set(worker, 'a', 5);
    await bind(worker, { queue: 'changes' });
    await set(worker, 'a', 6);
    await waitFor('the sixth job has run', () => values.length > 5);
    await waitFor('no job is left', async () => (await statsOf(worker, 'changes')).depth === 0);
    expect(values.toSorted()).toEqual([0, 1, 2, 3, 4, 6]);
  },
);

test('[S5] A job of a trigger with a condition runs only if the condition returns true', async () => {
  await using engine = await startTestEngine({
    yaml: yaml({ state: 'store_method: in_memory', queue: builtin('store_method: in_memory') }),
  });
  await using worker = await RawWorker.connect(engine.url);
  const seen: unknown[] = [];
  await worker.serve('large', (data) => (data as { new_value: number }).new_value > 10);
  await worker.serve('changed', (data) => seen.push((data as { new_value: unknown }).new_value));
  await bind(worker, { queue: 'changes', condition_function_id: 'large' });
  for (const value of [5, 50, 6, 60]) await set(worker, 'a', value);
  await waitFor('two events', () => seen.length === 2);
  expect(seen.toSorted()).toEqual([50, 60]);
});

test('[S5] A change whose job the queue refuses is refused with the reason', async () => {
  const places = { state: 'store_method: in_memory', queue: builtin('store_method: in_memory') };
  await using engine = await startTestEngine({ yaml: yaml(places, '{changes: {max_jobs: 1}}') });
  await using worker = await RawWorker.connect(engine.url);
  await bind(worker, { queue: 'changes' });
  await set(worker, 'a', 1);
  expect((await set(worker, 'a', 2)).error).toMatchObject({
    code: 'enqueue_error',
    message: expect.stringMatching(/The change was not made.*'changes'.*full/),
  });
  expect((await worker.call('state::get', { scope: 'orders', key: 'a' })).result).toBe(1);
});

test.each([
  ['an unknown queue', { queue: 'other' }, `Queue 'other' not found`],
  ['a group that no event has', { queue: 'grouped' }, `Queue 'grouped' groups by 'order_id', which no event has`],
])('[S5] A state trigger that names %s is refused', async (_what, config, reason) => {
  const places = { state: 'store_method: in_memory', queue: builtin('store_method: in_memory') };
  const queues = '{grouped: {type: fifo, message_group_field: order_id}}';
  await using engine = await startTestEngine({ yaml: yaml(places, queues) });
  await using worker = await RawWorker.connect(engine.url);
  expect(await bind(worker, config)).toMatchObject({ message: expect.stringContaining(reason) });
});

test('[S5] A change of a custom stream is answered although the queue refuses its job', async () => {
  const inMemory = 'store_method: in_memory';
  const stream = `  - name: svc-stream
    config: {port: 0, adapter: {name: kv, config: {${inMemory}}}}
`;
  const places = yaml({ state: inMemory, queue: builtin(inMemory) }, '{changes: {max_jobs: 1}}');
  await using engine = await startTestEngine({ yaml: places + stream });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('stream::set(chat)', () => ({ old_value: null, new_value: 1 }));
  const config = { stream_name: 'chat', queue: 'changes' };
  worker.send({ type: 'registertrigger', id: 't1', trigger_type: 'stream', function_id: 'absent', config });
  await worker.settled();
  for (const item_id of ['a', 'b']) {
    const { result } = await worker.call('stream::set', { stream_name: 'chat', group_id: 'g', item_id, data: 1 });
    expect(result).toMatchObject({ new_value: 1 });
  }
  await expectCount(engine, 1, 'triggers.jobs_missing');
});

test('[S5] Jobs of changes wait for a full queue in another store, and then run in order', async () => {
  using folder = new TemporaryFolder();
  const places = { state: inFolder(folder.path), queue: builtin('store_method: in_memory') };
  await using engine = await startTestEngine({ yaml: yaml(places, '{changes: {max_jobs: 1, concurrency: 1}}') });
  await using worker = await RawWorker.connect(engine.url);
  await bind(worker, { queue: 'changes' });
  await enqueue(worker, 'changed', { new_value: 'first' }, { queue: 'changes' });
  for (const value of [1, 2]) await set(worker, 'a', value);
  await waitFor('the outbox waits', () => (engine.counters.get('triggers.outbox_waits') ?? 0) > 0);
  const values: unknown[] = [];
  await worker.serve('changed', (data) => values.push((data as { new_value: unknown }).new_value));
  await waitFor('all three jobs have run', () => values.length === 3, 10_000);
  expect(values).toEqual(['first', 1, 2]);
});

test('[S5] [Q12] Jobs that wait for a full queue in another store do not delay those of other queues', async () => {
  using folder = new TemporaryFolder();
  const places = { state: inFolder(folder.path), queue: builtin('store_method: in_memory') };
  await using engine = await startTestEngine({ yaml: yaml(places, '{full: {max_jobs: 1}, open: {}}') });
  await using worker = await RawWorker.connect(engine.url);
  const seen: unknown[] = [];
  await worker.serve('changed', (data) => seen.push((data as { key: unknown }).key));
  for (const [scope, queue, function_id] of [
    ['orders', 'full', 'absent'],
    ['users', 'open', 'changed'],
  ] as const) {
    worker.send({ type: 'registertrigger', id: queue, trigger_type: 'state', function_id, config: { scope, queue } });
  }
  await worker.settled();
  await Promise.all(Array.from({ length: 300 }, (_, at) => set(worker, `o${at}`, 1)));
  for (const key of ['u1', 'u2']) {
    await worker.call('state::set', { scope: 'users', key, value: 1 });
    await waitFor('its job has run', () => seen.includes(key));
  }
  expect(seen).toEqual(['u1', 'u2']);
});

test.each(['one folder', 'two folders'])(
  '[S5] The job of a change belongs to the trace of the change: %s',
  async (how) => {
    using folder = new TemporaryFolder();
    const queue = how === 'one folder' ? folder.path : `${folder.path}/queue`;
    const places = { state: inFolder(folder.path), queue: builtin(inFolder(queue)) };
    await using engine = await startTestEngine({ yaml: yaml(places) });
    await using worker = await RawWorker.connect(engine.url);
    const traces: unknown[] = [];
    await worker.serve('changed', (_data, { traceparent, baggage }) => traces.push([traceparent, baggage]));
    await bind(worker, { queue: 'changes' });
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${trace}-b7ad6b7169203331-01`;
    await worker.call('state::set', { scope: 's', key: 'a', value: 1 }, { traceparent, baggage: 'user=ann' });
    await waitFor('the job has run', () => traces.length === 1);
    expect(traces).toEqual([[expect.stringContaining(trace), expect.stringContaining('user=ann')]]);
    const lines = await treeOf(worker, trace, 3);
    expect(lines.map((line) => line.trim())).toEqual(expect.arrayContaining(['fn_queue changes', 'call changed']));
  },
);

test.each(['one folder', 'two folders'])('[S5] An event of a stream becomes a job: %s', async (how) => {
  using folder = new TemporaryFolder();
  const queue = how === 'one folder' ? folder.path : `${folder.path}/queue`;
  const stream = `  - name: svc-stream
    config: {port: 0, adapter: {name: kv, config: {${inFolder(folder.path)}}}}
`;
  const places = { state: inFolder(folder.path), queue: builtin(inFolder(queue)) };
  await using engine = await startTestEngine({ yaml: yaml(places) + stream });
  await using worker = await RawWorker.connect(engine.url);
  const seen: unknown[] = [];
  await worker.serve('changed', (data, { metadata }) => {
    const { type, groupId, id, event } = data as Record<string, unknown>;
    const { attempt } = metadata as { attempt: number };
    seen.push([type, groupId, id, event, attempt]);
    if (attempt === 1) throw new Error('not yet');
  });
  const config = { stream_name: 'chat', group_id: 'room', queue: 'changes' };
  worker.send({ type: 'registertrigger', id: 't1', trigger_type: 'stream', function_id: 'changed', config });
  await worker.settled();
  const place = { stream_name: 'chat', group_id: 'room' };
  await worker.call('stream::set', { ...place, item_id: 'i', data: 'elsewhere', group_id: 'hall' });
  await worker.call('stream::send', { ...place, type: 'typing', data: 'no change' });
  await worker.call('stream::set', { ...place, item_id: 'i', data: 1 });
  await waitFor('the job has had two attempts', () => seen.length === 2);
  expect(seen).toEqual([1, 2].map((attempt) => ['create', 'room', 'i', { type: 'create', data: 1 }, attempt]));
});
