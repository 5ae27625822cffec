// Inputs and outputs of calls: which are kept, and who may read them.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { ask, type Fields, observedBy, refusalOf } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const ON = 'enabled: true, exporter: memory';

/** The run of the newest call of the function, with what is kept of it. */
async function lastRun(worker: RawWorker, functionId: string): Promise<{ run: Fields; payloads: Fields }> {
  const run = await waitFor('the run is stored', async () => {
    const { runs } = await ask(worker, 'engine::traces::runs', { function_id: functionId, limit: 1 });
    const [first]: unknown[] = Array.isArray(runs) ? runs : [];
    return first !== undefined && { ...Object(first) };
  });
  const { trace_id, span_id } = run;
  return { run, payloads: await ask(worker, 'engine::traces::payloads', { trace_id, span_id }) };
}

async function shopOf(engine: TestEngine): Promise<RawWorker> {
  const worker = await RawWorker.connect(engine.url);
  await worker.serve('shop::order', () => ({ order: 1, token: 't' }));
  await worker.serve('shop::fail', () => {
    throw new Error('no stock');
  });
  return worker;
}

test('[O9] Without a setting nothing is kept, and the answer names the setting', async () => {
  await using engine = await startTestEngine({ yaml: observedBy(`{${ON}}`) });
  await using worker = await shopOf(engine);
  await worker.call('shop::order', { sku: 'a' });
  const { run, payloads } = await lastRun(worker, 'shop::order');
  expect(run.has_payload).toBe(false);
  expect(payloads).toMatchObject({ mode: 'off', input: null, output: null, missing: 'off' });
});

test('[O9] With all, input and output of a run are kept, without secrets', async () => {
  await using engine = await startTestEngine({ yaml: observedBy(`{${ON}, payloads: all}`) });
  await using worker = await shopOf(engine);
  await worker.call('shop::order', { sku: 'a', password: 'p' });
  const { run, payloads } = await lastRun(worker, 'shop::order');
  expect(run.has_payload).toBe(true);
  expect(payloads).toMatchObject({
    function_id: 'shop::order',
    input: { json: '{"sku":"a","password":"[redacted]"}', bytes: 26, redacted: ['/password'] },
    output: { json: '{"order":1,"token":"[redacted]"}', redacted: ['/token'] },
    missing: null,
  });
});

test('[O9] With errors, only the input of a run that failed is kept', async () => {
  await using engine = await startTestEngine({ yaml: observedBy(`{${ON}, payloads: errors}`) });
  await using worker = await shopOf(engine);
  await worker.call('shop::order', { sku: 'a' });
  await worker.call('shop::fail', { sku: 'b' });
  expect((await lastRun(worker, 'shop::order')).payloads).toMatchObject({ input: null, missing: 'succeeded' });
  expect((await lastRun(worker, 'shop::fail')).payloads).toMatchObject({
    input: { json: '{"sku":"b"}' },
    output: null,
    missing: null,
  });
});

test('[O9] A call that no worker could take keeps its input', async () => {
  await using engine = await startTestEngine({ yaml: observedBy(`{${ON}, payloads: errors}`) });
  await using worker = await shopOf(engine);
  await worker.call('shop::missing', { sku: 'c' });
  expect((await lastRun(worker, 'shop::missing')).payloads).toMatchObject({ input: { json: '{"sku":"c"}' } });
});

test('[O9] Of functions of the engine itself nothing is kept', async () => {
  await using engine = await startTestEngine({ yaml: observedBy(`{${ON}, payloads: all}`) });
  await using worker = await shopOf(engine);
  await worker.call('engine::functions::list', {});
  expect((await lastRun(worker, 'engine::functions::list')).payloads).toMatchObject({ missing: 'of_the_engine' });
});

test('[O9] Restricted connections never see payloads', async () => {
  const restricted = `  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("*")']}}}\n`;
  await using engine = await startTestEngine({ yaml: observedBy(`{${ON}, payloads: all}`) + restricted });
  await using worker = await shopOf(engine);
  await worker.call('shop::order', { sku: 'a' });
  const { trace_id, span_id } = (await lastRun(worker, 'shop::order')).run;
  await using guest = await RawWorker.connect(engine.urls[1] ?? '');
  expect(await refusalOf(guest, 'engine::traces::payloads', { trace_id, span_id })).toBe('FORBIDDEN');
});

test('[O9] A reload of the configuration changes of which functions they are kept', async () => {
  using folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  writeFileSync(configFile, observedBy(`{${ON}}`));
  await using engine = await startTestEngine({ configFile });
  await using worker = await shopOf(engine);
  writeFileSync(configFile, observedBy(`{${ON}, payloads: {"shop::o*": all}}`));
  expect(await engine.reload()).toMatchObject({ ok: true });
  await worker.call('shop::order', { sku: 'a' });
  await worker.call('shop::fail', { sku: 'a' });
  expect((await lastRun(worker, 'shop::order')).payloads).toMatchObject({
    mode: 'all',
    input: { json: '{"sku":"a"}' },
  });
  expect((await lastRun(worker, 'shop::fail')).payloads).toMatchObject({ mode: 'off', missing: 'off' });
});
