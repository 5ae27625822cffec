// A stranger says of its calls that they are part of a chain that runs already, to be served when others are refused.

import { expect, test } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { TurningClock } from '../support/fakes/turning-clock.ts';

const FORGED = { baggage: 'svc.depth=1' };
const CALLS = 60;

test('A draining engine refuses the calls and jobs of a stranger whatever depth they name', async () => {
  await using scene = await openScene();
  const running = await scene.drainWithACallRunning();
  for (const depth of [1, 7, 63]) {
    const fields = { baggage: `svc.depth=${depth}` };
    expect(await scene.stranger.call('api::work', {}, fields)).toMatchObject(SHUTTING_DOWN);
    const action = { type: 'enqueue', queue: 'default' };
    const job = await scene.stranger.call('api::work', {}, { ...fields, action });
    expect(job).toMatchObject({ error: { code: 'enqueue_error', reason: 'SHUTTING_DOWN' } });
  }
  expect(await scene.stranger.call('api::work', {}, { baggage: 'svc.depth=64' })).toMatchObject({
    error: { code: 'DEPTH_EXCEEDED' },
  });
  expect(scene.backend.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
  scene.backend.answer(running, { result: null });
});

test('A stranger that keeps a call of its own running is part of no chain by that', async () => {
  await using scene = await openScene();
  const { stranger } = scene;
  await stranger.register('api::mine');
  stranger.startCall('api::mine');
  await stranger.next('invokefunction');
  const running = await scene.drainWithACallRunning();
  expect(await stranger.call('api::work', {}, FORGED)).toMatchObject(SHUTTING_DOWN);
  expect(await stranger.call('api::work')).toMatchObject(SHUTTING_DOWN);
  scene.backend.answer(running, { result: null });
});

test('A page that runs something for a trusted worker may finish it, and no longer', async () => {
  await using scene = await openScene();
  const { stranger, backend, trusted } = scene;
  await stranger.register('api::page');
  const asked = trusted.startCall('api::page');
  const call = await stranger.next('invokefunction');
  const running = await scene.drainWithACallRunning();
  const nested = stranger.startCall('api::work', {}, { baggage: call.baggage });
  backend.answer(await backend.next('invokefunction'), { result: 'done' });
  expect(await stranger.answerTo(nested)).toMatchObject({ result: 'done' });
  stranger.answer(call, { result: null });
  await trusted.answerTo(asked);
  expect(await stranger.call('api::work', {}, { baggage: call.baggage })).toMatchObject(SHUTTING_DOWN);
  backend.answer(running, { result: null });
});

test('An engine that sheds load refuses as many of sixty calls of a stranger with a depth as without', async () => {
  await using scene = await openScene();
  await scene.backend.serve('api::quick', () => 'answered');
  scene.press(300);
  for (const fields of [{}, FORGED]) {
    const ids = Array.from({ length: CALLS }, () => scene.stranger.startCall('api::quick', {}, fields));
    const answers = await Promise.all(ids.map((id) => scene.stranger.answerTo(id)));
    const refused = answers.filter(({ error }) => Object(error).code === 'OVERLOADED');
    expect(refused).toHaveLength(CALLS / 2);
  }
});

test('A request whose condition is asked when the drain begins is refused with a depth as without', async () => {
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
  /** An anonymous connection of the port with rbac. */
  readonly stranger: RawWorker;
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
      `{name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")']}}}`,
      '{name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}',
    ],
  });
  const [trustedUrl = '', restrictedUrl = ''] = engine.urls.filter((url) => url.startsWith('ws:'));
  const backend = await RawWorker.connect(trustedUrl);
  const trusted = await RawWorker.connect(trustedUrl);
  const stranger = await RawWorker.connect(restrictedUrl);
  await backend.register('api::work');
  return {
    ...{ engine, backend, trusted, stranger },
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
      const workers = [backend, trusted, stranger].map((worker) => worker[Symbol.asyncDispose]());
      await Promise.all([...workers, engine[Symbol.asyncDispose]()]);
    },
  };
}
