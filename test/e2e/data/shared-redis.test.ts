// Engines that keep state and streams in one Redis, seen by their workers and subscribers.

import { afterAll, describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { NO_REDIS_SERVER, RedisServer, SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const keyPrefix = newKeyPrefix();
const GROUP = { stream_name: 'chat', group_id: 'room' };

afterAll(() => removeKeys(keyPrefix));

function adapterIn(url: string, prefix = keyPrefix): string {
  return `{name: extstore, config: {extstore_url: '${url}', key_prefix: '${prefix}'}}`;
}

function yamlFor(url: string, prefix = keyPrefix): string {
  const adapter = adapterIn(url, prefix);
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-state, config: {adapter: ${adapter}}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: ${adapter}}}
`;
}

/** The same configuration in the class style, with the other name of the address. */
function classYaml(url: string): string {
  const config = `{redis_url: '${url}', key_prefix: '${keyPrefix}'}`;
  return `drain_timeout_ms: 100
modules:
  - {class: 'modules::worker::WorkerModule', config: {port: 0}}
  - class: modules::state::StateModule
    config: {adapter: {class: 'modules::state::adapters::ExtStoreAdapter', config: ${config}}}
  - class: modules::stream::StreamModule
    config:
      port: 0
      host: 127.0.0.1
      adapter: {class: 'modules::stream::adapters::ExtStoreAdapter', config: ${config}}
`;
}

function streamsOf({ urls }: TestEngine): string {
  return urls[1] ?? '';
}

async function healthOf(worker: RawWorker, module: string): Promise<unknown> {
  const { result } = await worker.call('engine::health::check');
  return Object(result).components.modules[module];
}

describe('two engines on one Redis', () => {
  test('[S1] [S3] share their state, and no increment of either is lost', async () => {
    await using one = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using two = await startTestEngine({ yaml: classYaml(SHARED_REDIS) });
    await using left = await RawWorker.connect(one.url);
    await using right = await RawWorker.connect(two.url);
    await left.call('state::set', { scope: 'shared', key: 'k', value: { text: 'x' } });
    expect((await right.call('state::get', { scope: 'shared', key: 'k' })).result).toEqual({ text: 'x' });
    const ops = [{ type: 'increment', path: 'n', by: 1 }];
    const update = (worker: RawWorker) => worker.call('state::update', { scope: 'shared', key: 'count', ops });
    await Promise.all(Array.from({ length: 200 }, (_, index) => update(index % 2 ? left : right)));
    expect((await left.call('state::get', { scope: 'shared', key: 'count' })).result).toEqual({ n: 200 });
  });

  test('[S5] each fire state triggers only for the changes of their own callers', async () => {
    await using one = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using two = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using left = await RawWorker.connect(one.url);
    await using right = await RawWorker.connect(two.url);
    const heard: string[] = [];
    for (const [name, worker] of [
      ['left', left],
      ['right', right],
    ] as const) {
      await worker.serve('note', (event) => void heard.push(`${name} ${Object(event).key}`));
      worker.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: 'note', config: {} });
      await worker.settled();
    }
    await left.call('state::set', { scope: 'fire', key: 'a', value: 1 });
    await right.call('state::set', { scope: 'fire', key: 'b', value: 1 });
    await waitFor('both triggers have fired', () => heard.length === 2);
    await Promise.all([left.settled(), right.settled()]);
    expect(heard.sort()).toEqual(['left a', 'right b']);
  });

  test('[S5] number the changes of an entry in one order', async () => {
    await using one = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using two = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using left = await RawWorker.connect(one.url);
    await using right = await RawWorker.connect(two.url);
    const events: { seq: number; old_value: unknown; new_value: unknown }[] = [];
    for (const worker of [left, right]) {
      await worker.serve('note', (event) => void events.push(Object(event)));
      worker.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: 'note', config: {} });
      await worker.settled();
    }
    const entry = { scope: 'numbered', key: 'k' };
    const change = (worker: RawWorker, index: number) =>
      index % 7 === 0
        ? worker.call('state::delete', entry)
        : worker.call('state::update', { ...entry, ops: [{ type: 'set', path: 'v', value: index }] });
    await Promise.all(Array.from({ length: 100 }, (_, index) => change(index % 2 ? left : right, index + 1)));
    const { result } = await left.call('state::get', entry);
    await waitFor('all changes are reported', () => {
      const last = Math.max(0, ...events.map(({ seq }) => seq));
      const newest = events.find(({ seq }) => seq === last)?.new_value;
      return JSON.stringify(newest ?? null) === JSON.stringify(result ?? null);
    });
    await Promise.all([left.settled(), right.settled()]);
    const inOrder = events.toSorted((one, other) => one.seq - other.seq);
    expect(new Set(inOrder.map(({ seq }) => seq)).size).toBe(inOrder.length);
    // Each change found what the one before had left.
    expect(inOrder.slice(1).map(({ old_value }) => old_value)).toEqual(
      inOrder.slice(0, -1).map(({ new_value }) => new_value),
    );
  });

  test('[T2] [T3] [T4] send a subscriber of either the changes of both, also when it returns to the other', async () => {
    await using one = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using two = await startTestEngine({ yaml: yamlFor(SHARED_REDIS) });
    await using left = await RawWorker.connect(one.url);
    await using right = await RawWorker.connect(two.url);
    const set = (worker: RawWorker, data: number) => worker.call('stream::set', { ...GROUP, item_id: 'i', data });
    await set(left, 0);
    const follower = await StreamClient.connect(streamsOf(one), '/stream/chat/room/');
    await waitFor('the snapshot is there', () => follower.messages.length === 1);
    expect(follower.messages[0]?.event).toMatchObject({ type: 'sync', data: [0], ids: ['i'] });
    await Promise.all(Array.from({ length: 100 }, (_, index) => set(index % 2 ? left : right, index)));
    await waitFor('all events have arrived', () => follower.messages.length === 101);
    const seqs = follower.messages.map(({ seq = 0 }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index));
    const last = follower.messages.at(-1);
    follower.socket.terminate();
    await set(right, 1_000);
    await set(left, 1_001);
    const since = `?epoch=${encodeURIComponent(last?.epoch ?? '')}&seq=${last?.seq}`;
    await using again = await StreamClient.connect(streamsOf(two), `/stream/chat/room/${since}`);
    await waitFor('the missed events have arrived', () => again.messages.length === 3);
    expect(again.messages.map(({ event }) => event.recovered ?? event.data)).toEqual([true, 1_000, 1_001]);
  });
});

describe.skipIf(NO_REDIS_SERVER)(`a Redis that goes away ${NO_REDIS_SERVER ?? ''}`, () => {
  test('[K2] [K3] is reported in health, fails calls at once while it is away, and is used again when it is back', {
    timeout: 30_000,
  }, async () => {
    await using redis = await RedisServer.start();
    await using engine = await startTestEngine({ yaml: yamlFor(redis.url, 'svc:') });
    await using worker = await RawWorker.connect(engine.url);
    await using follower = await StreamClient.connect(streamsOf(engine), '/stream/chat/room/');
    await waitFor('the snapshot is there', () => follower.messages.length === 1);
    const modules = ['svc-state', 'svc-stream'];
    const statuses = () => Promise.all(modules.map(async (name) => Object(await healthOf(worker, name)).status));
    for (const name of modules) {
      expect(await healthOf(worker, name)).toMatchObject({
        ...{ status: 'healthy', adapter: 'extstore' },
        details: { address: redis.url, weaker_promise: expect.stringContaining('appendonly is off') },
      });
    }
    await redis.stop();
    await waitFor('health is unhealthy', async () => (await statuses()).every((status) => status === 'unhealthy'));
    for (const [id, payload] of [
      ['state::get', { scope: 's', key: 'k' }],
      ['stream::set', { ...GROUP, item_id: 'i', data: 1 }],
    ] as const) {
      expect((await worker.call(id, payload)).error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    }
    await redis.start();
    await waitFor(
      'health is healthy again',
      async () => (await statuses()).every((status) => status === 'healthy'),
      10_000,
    );
    await waitFor('the follower reads again', () => follower.messages.length === 2);
    expect((await worker.call('stream::set', { ...GROUP, item_id: 'i', data: 2 })).error).toBeUndefined();
    await waitFor('the follower has it', () => follower.messages.length === 3);
    // That Redis kept nothing, so a new epoch begins.
    expect(follower.messages.map(({ event }) => event.recovered)).toEqual([false, false, undefined]);
    expect(new Set(follower.messages.map(({ epoch }) => epoch)).size).toBe(2);
  });
});

describe('an adapter that cannot work', () => {
  test.each([
    ['a broken address', `{name: extstore, config: {extstore_url: 'redis://:secret-word@127.0.0.1:x'}}`],
    ['two addresses', `{name: redis, config: {extstore_url: '${SHARED_REDIS}', redis_url: 'redis://127.0.0.1:1'}}`],
    ['a wrong password', adapterIn(SHARED_REDIS.replace('://', '://user:secret-word@'))],
  ])('[K2] %s ends the start with exit code 78', { timeout: 30_000 }, async (_what, adapter) => {
    for (const module of ['svc-state', 'svc-stream']) {
      const listed = `  - {name: ${module}, config: {adapter: ${adapter}}}\n`;
      const yaml = `workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n${listed}`;
      await using engine = await EngineProcess.spawn(yaml);
      expect(await engine.end(15_000)).toMatchObject({ code: 78 });
      expect(engine.stderr).not.toContain('secret-word');
    }
  });
});
