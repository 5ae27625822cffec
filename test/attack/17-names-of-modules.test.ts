// The names of the engine's own functions and trigger types belong to it, also while the module that has them is not
// loaded. Otherwise a page receives what trusted workers meant for the module, and keeps it from being loaded again.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isReserved, isReservedType } from '../../src/core/access/access.ts';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../support/engine/temporary-folder.ts';
import { startTestEngine } from '../support/engine/test-engine.ts';

const MODULES = `  - {name: svc-cron, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-pubsub}
`;

test('a page takes no name of a module that a reload removes, and the module can be added again', async () => {
  using folder = new TemporaryFolder();
  const file = join(folder.path, 'svc-config.yaml');
  writeFileSync(file, yamlWith(MODULES));
  await using engine = await startTestEngine({ configFile: file });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('auth', () => ({ allow_trigger_type_registration: true }));
  const tick = { type: 'registertrigger', trigger_type: 'cron', function_id: 'orders::tick' };
  worker.send({ ...tick, id: 'real', config: { expression: '0 0 1 1 *' } });
  await worker.settled();
  await using page = await RawWorker.connect(String(engine.urls[1]), { subprotocols: ['svc.json.v1'] });
  writeFileSync(file, yamlWith(''));
  expect(await engine.reload()).toMatchObject({ ok: true });
  for (const id of ['cron', 'subscribe', 'http']) page.send({ type: 'registertriggertype', id, description: '' });
  for (const id of ['publish', 'enqueue']) page.send({ type: 'registerfunction', id });
  await page.settled();
  expect(page.frames.map(({ type }) => type)).toEqual(new Array(5).fill('registrationrejected'));
  expect(await worker.call('publish', { topic: 'orders', data: 1 })).toMatchObject({
    error: { code: 'function_not_found' },
  });
  writeFileSync(file, yamlWith(MODULES));
  expect(await engine.reload()).toMatchObject({ ok: true });
  expect(page.frames.filter(isOfTrusted)).toEqual([]);
  expect(await worker.call('engine::registered-triggers::info', { id: 'real' })).toMatchObject({
    result: { trigger: { worker_name: 'svc-engine-functions' } },
  });
});

test('every function and trigger type of the modules is reserved', async () => {
  await using engine = await startTestEngine({ yaml: yamlWith(`${MODULES}${OTHERS}`) });
  await using worker = await RawWorker.connect(engine.url);
  const { result: functions } = await worker.call('engine::functions::list', { include_internal: true });
  const { result: types } = await worker.call('engine::triggers::list', { include_internal: true });
  const functionIds: string[] = Object(functions).functions.map((one: { function_id: string }) => one.function_id);
  const typeIds: string[] = Object(types).triggers.map(({ id }: { id: string }) => id);
  expect([functionIds.length > 80, typeIds.length > 12]).toEqual([true, true]);
  expect(functionIds.filter((id) => !isReserved(id))).toEqual([]);
  expect(typeIds.filter((id) => !isReservedType(id))).toEqual([]);
});

const IN_MEMORY = 'config: {adapter: {name: kv, config: {store_method: in_memory}}}';
const OTHERS = `  - {name: svc-state, ${IN_MEMORY}}
  - {name: svc-stream, config: {port: 0, adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}
  - {name: svc-observability}
  - {name: svc-http, config: {port: 0}}
`;

function isOfTrusted({ type }: Frame): boolean {
  return type === 'registertrigger' || type === 'invokefunction';
}

function yamlWith(modules: string): string {
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {auth_function_id: auth}}}
${modules}`;
}
