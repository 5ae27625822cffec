// State through a running engine: real store, real thread, real sockets.

import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerWorker } from 'svc-sdk';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { JSON_EDGES } from '../../support/random/json-edges.ts';

interface StateOptions {
  readonly adapter: string;
  readonly top?: string;
  readonly module?: string;
}

function stateYaml({ adapter, top = '', module = '' }: StateOptions): string {
  return `drain_timeout_ms: 100
${top}
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {${module} adapter: {name: kv, config: {${adapter}}}}
`;
}

const inMemory = (options: Partial<StateOptions> = {}) =>
  startTestEngine({ yaml: stateYaml({ adapter: 'store_method: in_memory', ...options }) });

test('[S1] [R1] A value that was set is read by every connection, also after a restart', async () => {
  using folder = new TemporaryFolder();
  const yaml = stateYaml({ adapter: `file_path: ${join(folder.path, 'data')}` });
  {
    await using engine = await startTestEngine({ yaml });
    await using writer = await RawWorker.connect(engine.url);
    await using reader = await RawWorker.connect(engine.url);
    const set = await writer.call('state::set', { scope: 'users', key: 'ann', value: { age: 41 } });
    expect(set.result).toEqual({ old_value: null, new_value: { age: 41 } });
    expect((await reader.call('state::get', { scope: 'users', key: 'ann' })).result).toEqual({ age: 41 });
  }
  await using engine = await startTestEngine({ yaml });
  await using reader = await RawWorker.connect(engine.url);
  expect((await reader.call('state::get', { scope: 'users', key: 'ann' })).result).toEqual({ age: 41 });
});

test('[S3] No increment is lost when many connections increment at once', async () => {
  await using engine = await inMemory();
  const workers = await Promise.all(Array.from({ length: 8 }, () => RawWorker.connect(engine.url)));
  const ops = [{ type: 'increment', path: 'n', by: 1 }];
  const increment = (worker: RawWorker) => worker.call('state::update', { scope: 's', key: 'k', ops });
  const answers = await Promise.all(workers.flatMap((worker) => Array.from({ length: 50 }, () => increment(worker))));
  const seen = new Set(answers.map(({ result }) => JSON.stringify((result as { new_value: unknown }).new_value)));
  expect(seen.size).toBe(400);
  const [reader] = workers;
  expect((await reader?.call('state::get', { scope: 's', key: 'k' }))?.result).toEqual({ n: 400 });
  for (const worker of workers) worker.close();
});

test('[S6] Numbers beyond double precision are read as they were sent, over the JSON wire', async () => {
  await using engine = await inMemory();
  await using worker = await RawWorker.connect(engine.url);
  for (const { name, text } of JSON_EDGES) {
    const data = `{"scope":"s","key":${JSON.stringify(name)},"value":${text}}`;
    const call = `{"type":"invokefunction","invocation_id":"w","function_id":"state::set","data":${data}}`;
    const answered = new Promise<string>((resolve) => worker.socket.once('message', (bytes) => resolve(String(bytes))));
    worker.sendText(call);
    expect(await answered).toContain(`"result":{"old_value":null,"new_value":${text}}`);
  }
});

test('[S1] The SDK reads what it has written, in both forms of the wire', async () => {
  await using engine = await inMemory();
  for (const wire of ['binary', 'json'] as const) {
    const svc = registerWorker(engine.url, { wire });
    const value = { text: 'é😀', list: [1, 2.5, null, true], nested: { [wire]: {} } };
    await svc.trigger({ function_id: 'state::set', payload: { scope: 's', key: wire, value } });
    expect(await svc.trigger({ function_id: 'state::get', payload: { scope: 's', key: wire } })).toEqual(value);
    const missing = svc.trigger({ function_id: 'state::get', payload: { scope: '', key: wire } });
    await expect(missing).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await svc.shutdown();
  }
});

describe('state triggers', () => {
  test('[S5] get one event for each change of their scope, in the order of the changes', async () => {
    await using engine = await inMemory();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('changed');
    worker.send({
      type: 'registertrigger',
      id: 't',
      trigger_type: 'state',
      function_id: 'changed',
      config: { scope: 's' },
    });
    await worker.settled();
    for (const value of [1, 2]) worker.startCall('state::set', { scope: 's', key: 'k', value });
    worker.startCall('state::set', { scope: 'other', key: 'k', value: 0 });
    worker.startCall('state::delete', { scope: 's', key: 'k' });
    const events = [];
    for (let event = 0; event < 3; event++) events.push((await worker.next('invokefunction')).data);
    expect(events).toMatchObject([
      { type: 'state', event_type: 'state:updated', scope: 's', key: 'k', old_value: null, new_value: 1 },
      { type: 'state', event_type: 'state:updated', old_value: 1, new_value: 2 },
      { type: 'state', event_type: 'state:deleted', old_value: 2, new_value: null },
    ]);
  });

  test('do not fire with triggers_enabled: false', async () => {
    await using engine = await inMemory({ module: 'triggers_enabled: false,' });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('changed');
    worker.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: 'changed', config: {} });
    await worker.call('state::set', { scope: 's', key: 'k', value: 1 });
    await worker.settled();
    expect(worker.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
  });
});

test('In drop-in mode the first write is a created event, and a missing entry has no result', async () => {
  await using engine = await inMemory({ top: 'compat: iii' });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('changed');
  worker.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: 'changed', config: {} });
  await worker.settled();
  expect(await worker.call('state::get', { scope: 's', key: 'k' })).not.toHaveProperty('result');
  worker.startCall('state::set', { scope: 's', key: 'k', value: 1 });
  expect((await worker.next('invokefunction')).data).toMatchObject({ event_type: 'state:created' });
});

test('A value over max_value_bytes is refused by an error that names the limit', async () => {
  await using engine = await inMemory({ module: 'max_value_bytes: 10,' });
  await using worker = await RawWorker.connect(engine.url);
  const { error } = await worker.call('state::set', { scope: 's', key: 'k', value: 'x'.repeat(9) });
  expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('the limit of 10') });
});

test('A store in memory is logged at the start and shown in health', async () => {
  await using engine = await inMemory();
  await using worker = await RawWorker.connect(engine.url);
  expect(engine.log.join('\n')).toMatch(/in_memory: what is stored is lost/);
  expect((await worker.call('engine::health::check')).result).toMatchObject({
    components: {
      modules: { 'svc-state': { status: 'healthy', adapter: 'kv', details: { store_method: 'in_memory' } } },
    },
  });
});

test('[R5] An engine on a damaged store does not start, and names the store', async () => {
  using folder = new TemporaryFolder();
  const yaml = stateYaml({ adapter: `file_path: ${folder.path}` });
  await (await startTestEngine({ yaml })).drain();
  truncateSync(join(folder.path, 'data.mdb'), 5_000);
  await expect(startTestEngine({ yaml })).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringMatching(`${folder.path} is damaged`),
  });
});

test('[R5] A file_path that cannot be created is a start error that names it', async () => {
  using folder = new TemporaryFolder();
  const taken = join(folder.path, 'a-file');
  writeFileSync(taken, '');
  await expect(startTestEngine({ yaml: stateYaml({ adapter: `file_path: ${taken}` }) })).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringContaining(`The store in ${taken} cannot be opened`),
  });
});
