// `svc triggers …` as processes against a real engine and a real worker.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type HandlerContext, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ANY_PORT, type EngineProcess, runSvc, startEngineProcess } from './cli-process.ts';

const WITH_STATE = `${ANY_PORT}  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
`;

interface Received {
  readonly event: unknown;
  readonly metadata: unknown;
}

let engine: EngineProcess;
let worker: SvcWorker;
const received: Received[] = [];
/** Ids of the trigger without a condition and of the one with a condition. */
let ids: { readonly plain: string; readonly guarded: string };

beforeAll(async () => {
  engine = await startEngineProcess(WITH_STATE);
  worker = registerWorker(engine.url, { worker_name: 'audit', handle_signals: false, drain_timeout_ms: 0 });
  const note = worker.registerFunction('audit::note', (event: unknown, { metadata }: HandlerContext) => {
    received.push({ event, metadata });
  });
  worker.registerFunction('audit::is_large', ({ new_value }: { new_value: number }) => new_value > 10);
  const metadata = { tenant: 'a' };
  const plain = worker.registerTrigger({ type: 'state', function_id: note, config: { scope: 'orders' }, metadata });
  const condition = { scope: 'users', condition_function_id: 'audit::is_large' };
  const guarded = worker.registerTrigger({ type: 'state', function_id: note, config: condition });
  worker.registerTrigger({ type: String('webhook'), function_id: note, config: {} });
  await guarded.ready();
  ids = { plain: plain.id, guarded: guarded.id };
});

beforeEach(() => {
  received.length = 0;
});

afterAll(async () => {
  await worker?.shutdown();
  await engine?.stop();
});

function svc(...args: string[]) {
  return runSvc(['triggers', ...args], { env: { SVC_URL: engine.url } });
}

test('[CLI-2] list prints all triggers, or those of one type', async () => {
  const all = await svc('list');
  expect(all.stdout).toContain(ids.plain);
  expect(all.stdout).toContain('audit::note');
  const waiting = await svc('list', '--type', 'webhook', '--json');
  expect(JSON.parse(waiting.stdout)).toMatchObject([{ trigger_type: String('webhook'), status: 'Inactive' }]);
});

test('[CLI-20] fire calls the function with the event and the metadata of the trigger', async () => {
  expect(await svc('fire', ids.plain, '{"key":"o-17"}')).toMatchObject({ code: 0 });
  await waitFor('the function is called', () => received.length > 0);
  expect(received).toEqual([{ event: { key: 'o-17' }, metadata: { tenant: 'a' } }]);
});

test('[T8] fire evaluates the condition first', async () => {
  await svc('fire', ids.guarded, '{"new_value":5}');
  await svc('fire', ids.guarded, '{"new_value":50}');
  await waitFor('the function is called', () => received.length > 0);
  expect(received).toMatchObject([{ event: { new_value: 50 } }]);
});

test('[CLI-4] an unknown trigger id is exit code 3', async () => {
  expect(await svc('fire', 'nothing')).toMatchObject({ code: 3, stdout: '' });
});
