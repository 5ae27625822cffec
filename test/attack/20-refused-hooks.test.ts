// A page makes registrations wait for a hook, until the hook is refused at once, because no worker offers it now. Thousands of steps that each end within the one before overflowed the stack, and the engine ended.

import { expect, test } from 'vitest';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage, leave } from './restricted-page.ts';

const REGISTRATIONS = 3_000;

function startEngine(): Promise<TestEngine> {
  const hooks = 'on_function_registration_function_id: hook, on_trigger_registration_function_id: hook';
  return startTestEngine({
    yaml: [
      'drain_timeout_ms: 100',
      'limits: {browser: {messages_per_second: 10000, messages_burst: 10000}}',
      'workers:',
      '  - {name: svc-worker-manager, config: {port: 0}}',
      `  - {name: svc-worker-manager, config: {port: 0, rbac: {${hooks}, allow_trigger_types: [mine]}}}`,
      '',
    ].join('\n'),
  });
}

function countOf(page: RawWorker, type: string): number {
  return page.frames.filter((frame) => frame.type === type).length;
}

test('Thousands of functions that wait are refused when the worker of the hook has gone', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  const decider = await RawWorker.connect(engine.url);
  await decider.register('hook');
  await using page = await connectPage(engine);
  for (let number = 0; number < REGISTRATIONS; number++) page.send({ type: 'registerfunction', id: `f${number}` });
  await page.settled();
  await leave(decider);
  await waitFor('all are refused', () => countOf(page, 'registrationrejected') === REGISTRATIONS);
  expect(await client.call('engine::baggage::get_all', {})).not.toHaveProperty('error');
});

test('Thousands of triggers that wait are refused when the hook is withdrawn', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using decider = await RawWorker.connect(engine.url);
  await decider.register('hook');
  await using page = await connectPage(engine);
  const trigger = { type: 'registertrigger', trigger_type: 'mine', function_id: 'own', config: {} };
  for (let number = 0; number < REGISTRATIONS; number++) page.send({ ...trigger, id: `t${number}` });
  const asked = await decider.next('invokefunction');
  await page.settled();
  decider.send({ type: 'unregisterfunction', id: 'hook' });
  decider.answer(asked, { error: { code: 'no', message: 'no' } });
  await waitFor('all are refused', () => countOf(page, 'triggerregistrationresult') === REGISTRATIONS);
  expect(await client.call('engine::baggage::get_all', {})).not.toHaveProperty('error');
});

test('A step that ends its connection ends the steps after it too', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using decider = await RawWorker.connect(engine.url);
  await decider.register('hook');
  const page = await connectPage(engine);
  for (let number = 0; number < 100; number++) page.send({ type: 'registerfunction', id: `f${number}` });
  const asked = await decider.next('invokefunction');
  await page.settled();
  await leave(page);
  decider.answer(asked, { result: {} });
  await decider.settled();
  expect(await client.call('f0', {})).toMatchObject({ error: { code: 'function_not_found' } });
});
