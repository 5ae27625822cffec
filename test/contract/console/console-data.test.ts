// State, streams and queues through the console API of a real engine, compared with the shared contract.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorker } from '../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../src/sdk/worker/svc-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import {
  type ConsoleEngine,
  consoleCall,
  consoleError,
  consoleReply,
  startConsoleEngine,
} from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const HOSTILE = ['a/b', 'x:y', '50%', 'a%2Fb', 'sp ace', '<b>', '\'"', '🐘', '..'];

const LEDGER = ', ledger: {type: fifo, message_group_field: account, max_retries: 1, backoff_ms: 10}';

let engine: ConsoleEngine;
let worker: SvcWorker;

beforeAll(async () => {
  engine = await startConsoleEngine({ queues: LEDGER });
  worker = createWorker(engine.url, { worker_name: 'mailer', handle_signals: false, log: () => {} });
  await worker.ready();
  worker.registerFunction('mail::send', async ({ to }: { to: string }) => {
    if (to === 'nobody') throw new Error(`no address of customer ${Math.random()}`);
    return null;
  });
});

afterAll(async () => {
  await worker.shutdown();
  await engine.drain();
});

describe('state', () => {
  test('An item is written, read, listed and deleted, with any name', async () => {
    for (const name of HOSTILE) {
      const path = [name, name];
      const put = await consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: { name } } });
      expect(put).toMatchObject({ scope: name, key: name, value: { name }, type: 'object' });
      const read = await consoleCall(engine, 'GET /states/{scope}/items/{key}', { path });
      expect(read.version).toBe(put.version);
      const list = await consoleCall(engine, 'GET /states/{scope}/items', { path: [name] });
      expect(list.items.map(({ key }) => key)).toEqual([name]);
      expect(await consoleCall(engine, 'DELETE /states/{scope}/items/{key}', { path })).toEqual({ removed: true });
      expect(await consoleCall(engine, 'DELETE /states/{scope}/items/{key}', { path })).toEqual({ removed: false });
    }
  });

  test('Numbers stay as they were written', async () => {
    const path = ['exact', 'n'];
    const body = '{"value":{"big":248480010225057793,"one":1.0,"e":1e2}}';
    await consoleReply(engine, 'PUT /states/{scope}/items/{key}', { path, body });
    const { text } = await consoleReply(engine, 'GET /states/{scope}/items/{key}', { path });
    expect(text).toContain('"value":{"big":248480010225057793,"one":1.0,"e":1e2}');
  });

  test('[STA-3] A write on an old version is refused with the current entry', async () => {
    const path = ['conflict', 'k'];
    const first = await consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: 1 } });
    await consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: 2 } });
    const late = { value: 3, if_version: first.version };
    const refused = await consoleError(engine, 'PUT /states/{scope}/items/{key}', { path, body: late });
    expect(refused).toMatchObject({ status: 409, code: 'CONFLICT', details: { current: { value: 2 } } });
    const absent = await consoleError(engine, 'PUT /states/{scope}/items/{key}', {
      path,
      body: { value: 3, if_absent: true },
    });
    expect(absent).toMatchObject({ status: 409 });
    const removal = await consoleError(engine, 'DELETE /states/{scope}/items/{key}', {
      path,
      query: { if_version: first.version },
    });
    expect(removal).toMatchObject({ status: 409 });
  });

  test('Of many writers with one version exactly one succeeds', async () => {
    const path = ['race', 'k'];
    const { version } = await consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: 0 } });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        consoleReply(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: n + 1, if_version: version } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  test('[STA-2] A list gives previews and sizes, pages by key and searches on the server', async () => {
    for (let n = 0; n < 30; n++) {
      const path = ['many', `user:${String(n).padStart(2, '0')}`];
      await consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: 'x'.repeat(n * 20) } });
    }
    const keys: string[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string | number> = { limit: 7, ...(cursor !== null && { cursor }) };
      const page: Awaited<ReturnType<typeof listMany>> = await listMany(query);
      keys.push(...page.items.map(({ key }) => key));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(keys).toHaveLength(30);
    expect(new Set(keys).size).toBe(30);
    const { items } = await listMany({ q: 'USER:29' });
    expect(items).toMatchObject([{ key: 'user:29', size: 582, truncated: true, type: 'string' }]);
    expect(items[0]?.preview).toHaveLength(256);
    expect((await listMany({ prefix: 'user:1' })).items).toHaveLength(10);
  });

  const listMany = (query: Record<string, string | number>) =>
    consoleCall(engine, 'GET /states/{scope}/items', { path: ['many'], query });

  test('GET /states/scopes lists scopes, with those of the console marked', async () => {
    await consoleCall(engine, 'PUT /flow/layout/{id}', { path: ['main'], body: { config: { a: 1 } } });
    const { items } = await consoleCall(engine, 'GET /states/scopes');
    expect(items.find(({ scope }) => scope === '__console.flowConfigs')?.internal).toBe(true);
    expect(items.find(({ scope }) => scope === 'many')?.internal).toBe(false);
  });

  test('[STA-5] An update shows its result, then writes it, with the errors of each operation', async () => {
    const path = ['ops', 'k'];
    await consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path, body: { value: { n: 1, s: 'x' } } });
    const ops = [
      { type: 'increment', path: 'n', by: 2 },
      { type: 'increment', path: 's', by: 1 },
    ];
    const route = 'POST /states/{scope}/items/{key}/update' as const;
    const tried = await consoleCall(engine, route, { path, body: { ops, dry_run: true } });
    expect(tried).toMatchObject({ old_value: { n: 1 }, new_value: { n: 3 } });
    const item = await consoleCall(engine, 'GET /states/{scope}/items/{key}', { path });
    expect(item.value).toEqual({ n: 1, s: 'x' });
    const done = await consoleCall(engine, route, { path, body: { ops } });
    expect(done).toMatchObject({ new_value: { n: 3, s: 'x' }, errors: [{ op_index: 1 }] });
  });
});

describe('streams', () => {
  test('Items are written, listed, read and deleted, with any name', async () => {
    for (const name of HOSTILE) {
      const path = [name, name, name];
      const put = await consoleCall(engine, 'PUT /streams/{stream}/{group}/items/{id}', {
        path,
        body: { data: { name } },
      });
      expect(put).toMatchObject({ old_value: null, new_value: { name } });
      const read = await consoleCall(engine, 'GET /streams/{stream}/{group}/items/{id}', { path });
      expect(read.data).toEqual({ name });
      const items = await consoleCall(engine, 'GET /streams/{stream}/{group}/items', { path: [name, name] });
      expect(items.items.map(({ id }) => id)).toEqual([name]);
      const groups = await consoleCall(engine, 'GET /streams/{stream}/groups', { path: [name] });
      expect(groups.items.map(({ group }) => group)).toEqual([name]);
    }
    const { items } = await consoleCall(engine, 'GET /streams');
    expect(items.map(({ name }) => name).sort()).toEqual([...HOSTILE].sort());
    for (const { name, groups, first_groups } of items)
      expect({ groups, first_groups }).toEqual({ groups: 1, first_groups: [name] });
    for (const name of HOSTILE) {
      const removed = await consoleCall(engine, 'DELETE /streams/{stream}/{group}/items/{id}', {
        path: [name, name, name],
      });
      expect(removed).toEqual({ removed: true });
    }
  });

  test('A custom event is sent without subscribers', async () => {
    const body = { stream_name: 'chat', group_id: 'room', type: 'typing', data: { who: 'ann' } };
    expect(await consoleCall(engine, 'POST /streams/send', { body })).toEqual({ result: null });
    const { items } = await consoleCall(engine, 'GET /streams/{stream}/{group}/subscribers', {
      path: ['chat', 'room'],
    });
    expect(items).toEqual([]);
  });

  test('[modules 4.2] A stream is counted while it has items, kept events or a subscriber', async () => {
    const send = { stream_name: 'seen-events', group_id: 'g', type: 'ping', data: null };
    await consoleCall(engine, 'POST /streams/send', { body: send });
    const url = `ws://127.0.0.1:${engine.streamPort}`;
    await using subscriber = await StreamClient.connect(url, '/stream/seen-subscriber/b');
    await subscriber.nextOf('sync');
    await consoleCall(engine, 'PUT /streams/{stream}/{group}/items/{id}', {
      ...{ path: ['seen-subscriber', 'a', 'x'], body: { data: 1 } },
    });
    const { items } = await consoleCall(engine, 'GET /streams', { query: { q: 'seen-' } });
    expect(items.map(({ name, groups, subscribers }) => ({ name, groups, subscribers }))).toEqual([
      { name: 'seen-events', groups: 1, subscribers: 0 },
      { name: 'seen-subscriber', groups: 2, subscribers: 1 },
    ]);
    const groupsOf = async (query: Record<string, number>) =>
      (await consoleCall(engine, 'GET /streams/{stream}/groups', { path: ['seen-subscriber'], query })).items;
    expect(await groupsOf({})).toEqual([
      { group: 'a', subscribers: 0 },
      { group: 'b', subscribers: 1 },
    ]);
    expect(await groupsOf({ limit: 1 })).toHaveLength(2);
  });
});

describe('queues', () => {
  const enqueue = (to: string) =>
    consoleCall(engine, 'POST /queues/{queue}/publish', {
      path: ['mail'],
      body: { function_id: 'mail::send', payload: { to } },
    });

  const dead = async () => (await consoleCall(engine, 'GET /queues/{queue}', { path: ['mail'] })).dead;

  const finished = (id: string) =>
    waitFor('the task has ended', async () => {
      const task = await consoleCall(engine, 'GET /tasks/{id}', { path: [id] });
      return task.state === 'running' ? undefined : task;
    });

  test('[QUE-3] Dead letters are listed, grouped, edited, redriven and purged', async () => {
    for (let n = 0; n < 5; n++) await enqueue('nobody');
    await waitFor('five letters are dead', async () => (await dead()) === 5);
    const { items } = await consoleCall(engine, 'GET /queues/{queue}/jobs', {
      path: ['mail'],
      query: { state: 'dead' },
    });
    expect(items).toHaveLength(5);
    // The queue has no retries: the first attempt was the only one.
    expect(items.every(({ attempt }) => attempt === 1)).toBe(true);
    const id = items[0]?.id ?? '';
    const letter = await consoleCall(engine, 'GET /queues/{queue}/jobs/{id}', { path: ['mail', id] });
    expect(letter).toMatchObject({ payload: { to: 'nobody' }, payload_available: true, state: 'dead' });
    const { groups, total } = await consoleCall(engine, 'GET /queues/{queue}/dlq/groups', { path: ['mail'] });
    expect(groups).toMatchObject([{ count: 5, error: expect.stringContaining('no address of customer <n>') }]);
    expect(total).toBe(5);

    const edited = await consoleCall(engine, 'POST /queues/{queue}/dlq/redrive', {
      path: ['mail'],
      body: { ids: [id], payload: { to: 'ann' } },
    });
    expect(await finished(edited.task_id)).toMatchObject({ state: 'done', done: 1, total: 1 });
    await waitFor('the edited job is done', async () => {
      const job = await consoleCall(engine, 'GET /queues/{queue}/jobs/{id}', { path: ['mail', id] });
      return job.state === 'done';
    });

    const filter = { error_group: groups[0]?.error ?? '' };
    const again = await consoleCall(engine, 'POST /queues/{queue}/dlq/redrive', { path: ['mail'], body: { filter } });
    expect(await finished(again.task_id)).toMatchObject({ state: 'done', done: 4, total: 4 });
    await waitFor('all four letters are dead again', async () => (await dead()) === 4);

    const purge = await consoleCall(engine, 'POST /queues/{queue}/dlq/purge', { path: ['*'], body: { all: true } });
    expect(await finished(purge.task_id)).toMatchObject({ state: 'done', done: 4, total: 4 });
    expect(await dead()).toBe(0);
  });

  test('A paused queue keeps its jobs, which are listed by their state', async () => {
    await consoleCall(engine, 'POST /queues/{queue}/pause', { path: ['mail'], body: {} });
    await enqueue('ann');
    const { items } = await consoleCall(engine, 'GET /queues/{queue}/jobs', {
      path: ['mail'],
      query: { state: 'waiting' },
    });
    expect(items).toMatchObject([{ function_id: 'mail::send', state: 'waiting' }]);
    const { items: queues } = await consoleCall(engine, 'GET /queues', { query: { q: 'mail' } });
    expect(queues).toMatchObject([{ paused: true, waiting: 1, oldest_waiting_ms: expect.any(Number) }]);
    expect(queues[0]?.in_per_s).toBeGreaterThan(0);
    await consoleCall(engine, 'POST /queues/{queue}/resume', { path: ['mail'], body: {} });
    await waitFor('the job has run', async () => {
      const { waiting, running } = await consoleCall(engine, 'GET /queues/{queue}', { path: ['mail'] });
      return waiting + running === 0;
    });
  });

  test('[QUE-2] A live job shows its payload digit by digit, and is found by its payload', async () => {
    await consoleCall(engine, 'POST /queues/{queue}/pause', { path: ['mail'], body: {} });
    const body = '{"function_id":"mail::send","payload":{"to":"ann","exact":248480010225057793,"one":1.0}}';
    await consoleReply(engine, 'POST /queues/{queue}/publish', { path: ['mail'], body });
    await enqueue('bob');
    const found = await consoleCall(engine, 'GET /queues/{queue}/jobs', {
      path: ['mail'],
      query: { q: '248480010225057793' },
    });
    expect(found.items).toHaveLength(1);
    const path = ['mail', found.items[0]?.id ?? ''];
    const { text } = await consoleReply(engine, 'GET /queues/{queue}/jobs/{id}', { path });
    expect(text).toContain('"payload":{"to":"ann","exact":248480010225057793,"one":1.0}');
    const detail = await consoleCall(engine, 'GET /queues/{queue}/jobs/{id}', { path });
    expect(detail).toMatchObject({ state: 'waiting', payload_available: true, attempts: [], edited_at: null });
    await consoleCall(engine, 'POST /queues/{queue}/resume', { path: ['mail'], body: {} });
    await waitFor('the job is done', async () => {
      const job = await consoleCall(engine, 'GET /queues/{queue}/jobs/{id}', { path });
      return job.state === 'done' && !job.payload_available;
    });
  });

  test('[QUE-2] A failed attempt keeps its time, error, worker and delay; [QUE-3] an edit is recorded', async () => {
    const job = async (id: string) => consoleCall(engine, 'GET /queues/{queue}/jobs/{id}', { path: ['ledger', id] });
    const body = { function_id: 'mail::send', payload: { to: 'nobody', account: 'cat' } };
    const { messageReceiptId } = await consoleCall(engine, 'POST /queues/{queue}/publish', { path: ['ledger'], body });
    const id = messageReceiptId ?? '';
    await waitFor('the job is a dead letter', async () => (await job(id)).state === 'dead');
    const { attempts, edited_at } = await job(id);
    expect(edited_at).toBe(null);
    expect(attempts).toMatchObject([
      { attempt: 2, worker: 'mailer', error: expect.stringContaining('no address'), delay_ms: null },
      { attempt: 1, worker: 'mailer', error: expect.stringContaining('no address'), delay_ms: 10 },
    ]);
    expect(attempts[0]?.at).toBeGreaterThanOrEqual(attempts[1]?.at ?? Number.POSITIVE_INFINITY);
    const again = { ids: [id], payload: { to: 'nobody', account: 'cat', edited: true } };
    await consoleCall(engine, 'POST /queues/{queue}/dlq/redrive', { path: ['ledger'], body: again });
    await waitFor('the job is a dead letter again', async () => {
      const found = await job(id);
      return found.state === 'dead' && found.edited_at !== null && found.attempts.length === 2;
    });
  });

  test('[QUE-4] The groups of a FIFO queue are listed by the job that each waits for', async () => {
    const book = (account: string, functionId: string) =>
      consoleCall(engine, 'POST /queues/{queue}/publish', {
        path: ['ledger'],
        body: { function_id: functionId, payload: { account, to: account } },
      });
    await book('dan', 'nobody::offers');
    await book('dan', 'mail::send');
    await waitFor('the group of dan waits for a worker', async () => {
      const { groups, has_more } = await consoleCall(engine, 'GET /queues/{queue}/groups', { path: ['ledger'] });
      expect(has_more).toBe(false);
      const dan = groups.find(({ value }) => value === '"dan"');
      return dan?.jobs === 2 && dan.head.state === 'waiting_for_worker' && dan.head.function_id === 'nobody::offers';
    });
    const query = { group: 'dan' };
    const { items } = await consoleCall(engine, 'GET /queues/{queue}/jobs', { path: ['ledger'], query });
    expect(items.map(({ group }) => group)).toEqual(['"dan"', '"dan"']);
    const refused = await consoleError(engine, 'GET /queues/{queue}/groups', { path: ['mail'] });
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('not FIFO') });
  });

  test('A bulk operation needs exactly one kind of target', async () => {
    for (const body of [{}, { all: true, ids: ['x'] }, { filter: {}, payload: 1 }]) {
      const refused = await consoleError(engine, 'POST /queues/{queue}/dlq/redrive', { path: ['mail'], body });
      expect(refused).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    }
  });

  test('An unknown queue and an unknown task are 404', async () => {
    expect(await consoleError(engine, 'GET /queues/{queue}', { path: ['nope'] })).toMatchObject({ status: 404 });
    expect(await consoleError(engine, 'GET /tasks/{id}', { path: ['nope'] })).toMatchObject({ status: 404 });
    expect(await consoleError(engine, 'DELETE /tasks/{id}', { path: ['nope'] })).toMatchObject({ status: 404 });
  });
});

describe('flow', () => {
  test('GET /flow/graph has functions; a layout is stored unchanged', async () => {
    const graph = await consoleCall(engine, 'GET /flow/graph');
    expect(graph.nodes.map(({ id }) => id)).toContain('function:mail::send');
    await consoleCall(engine, 'PUT /flow/layout/{id}', { path: ['main'], body: { config: { x: 1 } } });
    const layout = await consoleCall(engine, 'GET /flow/layout/{id}', { path: ['main'] });
    expect(layout).toEqual({ id: 'main', config: { x: 1 } });
    const refused = await consoleError(engine, 'PUT /flow/layout/{id}', { path: ['a b'], body: { config: 1 } });
    expect(refused).toMatchObject({ status: 400 });
  });
});
