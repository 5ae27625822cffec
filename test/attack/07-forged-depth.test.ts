// A restricted connection claims that its calls belong to a running chain, so that they are served during a drain.

import { expect, test } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { TurningClock } from '../support/fakes/turning-clock.ts';
import { connectPage } from './restricted-page.ts';

const FORGED = { baggage: 'svc.depth=1' };
const CALLS = 60;

test('A draining engine refuses the calls and jobs of a page whatever depth they claim', async () => {
  await using scene = await openScene();
  const running = await scene.drainWithACallRunning();
  for (const depth of [1, 7, 63]) {
    const fields = { baggage: `svc.depth=${depth}` };
    expect(await scene.page.call('api::work', {}, fields)).toMatchObject(SHUTTING_DOWN);
    const action = { type: 'enqueue', queue: 'default' };
    const job = await scene.page.call('api::work', {}, { ...fields, action });
    expect(job).toMatchObject({ error: { code: 'enqueue_error', reason: 'SHUTTING_DOWN' } });
  }
  expect(await scene.page.call('api::work', {}, { baggage: 'svc.depth=64' })).toMatchObject({
    error: { code: 'DEPTH_EXCEEDED' },
  });
  expect(scene.backend.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
  scene.backend.answer(running, { result: null });
});

test('A draining engine refuses the calls of a page that runs a call of its own', async () => {
  await using scene = await openScene();
  const { page } = scene;
  await page.register('api::mine');
  page.startCall('api::mine');
  await page.next('invokefunction');
  const running = await scene.drainWithACallRunning();
  expect(await page.call('api::work', {}, FORGED)).toMatchObject(SHUTTING_DOWN);
  expect(await page.call('api::work')).toMatchObject(SHUTTING_DOWN);
  scene.backend.answer(running, { result: null });
});

test('A page whose own job runs, or whose own trigger fired, is part of no chain by that', async () => {
  await using scene = await openScene();
  const { page, trusted } = scene;
  await page.register('api::mine');
  page.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: 'api::mine', config: {} });
  const job = await page.call('api::mine', {}, { action: { type: 'enqueue', queue: 'default' } });
  expect(job).not.toHaveProperty('error');
  await trusted.call('state::set', { scope: 's', key: 'k', value: 1 });
  for (let calls = 0; calls < 2; calls++) await page.next('invokefunction');
  const running = await scene.drainWithACallRunning();
  expect(await page.call('api::work')).toMatchObject(SHUTTING_DOWN);
  scene.backend.answer(running, { result: null });
});

test('A page may make calls during a drain only while it runs a call of a trusted worker', async () => {
  await using scene = await openScene();
  const { page, backend, trusted } = scene;
  await page.register('api::page');
  const asked = trusted.startCall('api::page');
  const call = await page.next('invokefunction');
  const running = await scene.drainWithACallRunning();
  const nested = page.startCall('api::work', {}, { baggage: call.baggage });
  backend.answer(await backend.next('invokefunction'), { result: 'done' });
  expect(await page.answerTo(nested)).toMatchObject({ result: 'done' });
  page.answer(call, { result: null });
  await trusted.answerTo(asked);
  expect(await page.call('api::work', {}, { baggage: call.baggage })).toMatchObject(SHUTTING_DOWN);
  backend.answer(running, { result: null });
});

test('An engine that sheds load refuses calls of a page with and without a depth alike', async () => {
  await using scene = await openScene();
  await scene.backend.serve('api::quick', () => 'answered');
  scene.press(300);
  for (const fields of [{}, FORGED]) {
    const ids = Array.from({ length: CALLS }, () => scene.page.startCall('api::quick', {}, fields));
    const answers = await Promise.all(ids.map((id) => scene.page.answerTo(id)));
    const refused = answers.filter(({ error }) => Object(error).code === 'OVERLOADED');
    expect(refused).toHaveLength(CALLS / 2);
  }
});

test('A request whose condition runs when the drain begins is refused with and without a depth alike', async () => {
  for (const headers of [{}, FORGED]) {
    await using scene = await openScene();
    const { backend, engine } = scene;
    await backend.register('api::may');
    const config = { http_method: 'GET', api_path: '/work', condition_function_id: 'api::may' };
    backend.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'api::work', config });
    await backend.settled();
    const reply = ask(engine, '/work', { headers });
    const question = await backend.next('invokefunction');
    const running = await scene.drainWithACallRunning();
    backend.answer(question, { result: true });
    expect(await reply).toMatchObject({ status: 503 });
    backend.answer(running, { result: null });
  }
});

const SHUTTING_DOWN = { error: { code: 'SHUTTING_DOWN' } };

interface Scene extends AsyncDisposable {
  readonly engine: HttpEngine;
  readonly backend: RawWorker;
  readonly trusted: RawWorker;
  /** An anonymous connection on the restricted port. */
  readonly page: RawWorker;
  press(loopDelayMs: number): void;
  /** The engine drains, and waits for the call that is returned. */
  drainWithACallRunning(): Promise<Frame>;
}

async function openScene(): Promise<Scene> {
  const load = { delayMs: 0 };
  const clock = new TurningClock();
  const engine = await startHttpEngine('', {
    clock,
    gauge: { loopDelayMs: () => load.delayMs, heapShare: () => 0, stop: () => {} },
    drainTimeoutMs: 60_000,
    workers: [
      `{name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")'], allow_trigger_types: [state]}}}`,
      '{name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}',
      '{name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}',
    ],
  });
  const backend = await RawWorker.connect(engine.url);
  const trusted = await RawWorker.connect(engine.url);
  const page = await connectPage(engine);
  await backend.register('api::work');
  return {
    ...{ engine, backend, trusted, page },
    press(loopDelayMs) {
      load.delayMs = loopDelayMs;
      clock.advance(1_000);
    },
    async drainWithACallRunning() {
      trusted.startCall('api::work', 'keeps the engine running');
      const running = await backend.next('invokefunction', ({ data }) => data === 'keeps the engine running');
      void engine.drain();
      await backend.next('draining');
      return running;
    },
    async [Symbol.asyncDispose]() {
      const workers = [backend, trusted, page].map((worker) => worker[Symbol.asyncDispose]());
      await Promise.all([...workers, engine[Symbol.asyncDispose]()]);
    },
  };
}
