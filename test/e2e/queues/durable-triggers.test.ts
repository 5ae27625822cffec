// Durable triggers, which belong to no connection, over restarts of a real engine with a real store.

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'svc-durable-triggers-'));
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

const REQUEST = {
  trigger_type: 'state',
  function_id: 'audit::note',
  config: { scope: 'größe', condition_function_id: null },
  metadata: { tenant: 'a' },
};

test('[PD-51] A durable trigger keeps its id over a restart, and fires', async () => {
  const yaml = stateAt('restart');
  const id = await registerAndStop(yaml, REQUEST);
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::registered-triggers::info', { id });
  expect(result).toMatchObject({ id, trigger_type: 'state', config: REQUEST.config, metadata: REQUEST.metadata });
  await worker.register('audit::note');
  await worker.call('state::set', { scope: 'größe', key: 'k', value: 7 });
  const call = await worker.next('invokefunction');
  expect(call).toMatchObject({ function_id: 'audit::note', data: { new_value: 7 }, metadata: { tenant: 'a' } });
});

test('[PD-51] A durable trigger that was removed stays removed after a restart', async () => {
  const yaml = stateAt('removed');
  const id = await registerAndStop(yaml, REQUEST);
  {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    expect((await worker.call('engine::unregister_trigger', { id })).result).toEqual({ removed: true });
    expect((await worker.call('engine::unregister_trigger', { id })).result).toEqual({ removed: false });
  }
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::registered-triggers::list');
  expect(result).toEqual({ registered_triggers: [] });
});

test('[PD-51] Seventy durable triggers, more than one page of the store, are kept over a restart', async () => {
  const yaml = stateAt('many');
  const ids: unknown[] = [];
  {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    for (let index = 0; index < 70; index++) {
      const { result } = await worker.call('engine::register_trigger', { ...REQUEST, function_id: `f${index}` });
      ids.push(Reflect.get(Object(result), 'id'));
    }
  }
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::registered-triggers::list');
  expect(result).toMatchObject({ registered_triggers: [...ids].sort().map((id) => ({ id })) });
});

test('[PD-51] A durable trigger is inactive while its module is not configured', async () => {
  const yaml = stateAt('gone');
  const id = await registerAndStop(yaml, REQUEST);
  const withoutState = `${ONE_PORT}  - name: svc-cron
    config: {adapter: {name: kv, config: {file_path: ${join(FOLDER, 'gone')}}}}
`;
  await using engine = await startTestEngine({ yaml: `drain_timeout_ms: 100\n${withoutState}` });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::registered-triggers::info', { id });
  expect(result).toMatchObject({ id, status: 'Inactive' });
});

test('[PD-51] Without a store on disk, the log warns that durable triggers are lost', async () => {
  await using engine = await startTestEngine();
  await using worker = await RawWorker.connect(engine.url);
  await worker.call('engine::register_trigger', REQUEST);
  expect(engine.log.join('\n')).toContain('durable triggers are lost when the engine ends');
});

test('[guarantees 4] A durable trigger with config and metadata over 64 KiB is refused', async () => {
  await using engine = await startTestEngine({ yaml: stateAt('large') });
  await using worker = await RawWorker.connect(engine.url);
  const metadata = 'x'.repeat(65 * 1024);
  const { error } = await worker.call('engine::register_trigger', { ...REQUEST, metadata });
  expect(error).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('over the limit of 65536') });
  const { result } = await worker.call('engine::registered-triggers::list');
  expect(result).toEqual({ registered_triggers: [] });
});

async function registerAndStop(yaml: string, request: object): Promise<string> {
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::register_trigger', request);
  return String(Reflect.get(Object(result), 'id'));
}

function stateAt(name: string): string {
  return `drain_timeout_ms: 100
${ONE_PORT}  - name: svc-state
    config: {adapter: {name: kv, config: {file_path: ${join(FOLDER, name)}}}}
`;
}
