// A stranger sends trace contexts that look like those of log triggers, so that the errors of others fire nothing.

import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { waitFor } from '../support/wait-for.ts';

/** At once: as many as a connection of a port for browsers may wait for, nearly. */
const FORGED = 50;

let scene: Scene;

beforeAll(async () => {
  scene = await openScene();
});

afterEach(() => {
  scene.fired.length = 0;
  scene.contexts.length = 0;
});

afterAll(() => scene?.[Symbol.asyncDispose]());

test('Fifty forged contexts of an anonymous connection leave the errors of the called worker as loud as they were', async () => {
  await using stranger = await scene.stranger();
  for (let one = 0; one < FORGED; one++) {
    stranger.startCall('api::slow', {}, { traceparent: contextOf(forgedId()) });
  }
  await scene.logWhileTheyRun(Array.from({ length: FORGED }, (_, one) => `error ${one}`));
  await waitFor('every error fires', () => scene.fired.length >= FORGED);
  expect(scene.fired).toHaveLength(FORGED);
});

test('Forged contexts of fifty HTTP requests leave them as loud too', async () => {
  const replies = Array.from({ length: FORGED }, () =>
    ask(scene.engine, '/slow', { headers: { traceparent: contextOf(forgedId()) } }),
  );
  await scene.logWhileTheyRun(Array.from({ length: FORGED }, (_, one) => `error ${one}`));
  await waitFor('every error fires', () => scene.fired.length >= FORGED);
  expect(scene.fired).toHaveLength(FORGED);
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 200));
});

test('A true mark that a stranger has seen and sends again marks nothing, over its socket and over HTTP', async () => {
  await using stranger = await scene.stranger();
  await using trusted = await RawWorker.connect(scene.engine.url);
  await trusted.call('engine::log::error', { message: 'the cause' });
  const seen = await waitFor('a handler shows its context', () => scene.contexts[0]);

  stranger.startCall('api::slow', {}, { traceparent: seen });
  const [overSocket] = await scene.logWhileTheyRun(['during the call of the stranger']);
  void ask(scene.engine, '/slow', { headers: { traceparent: seen } });
  const [overHttp] = await scene.logWhileTheyRun(['during the request of the stranger']);
  for (const call of [overSocket, overHttp]) expect(traceOf(call?.traceparent)).not.toBe(traceOf(seen));

  // The same from a connection that is trusted is what the mark is for.
  trusted.startCall('api::slow', {}, { traceparent: seen });
  await scene.logWhileTheyRun(['during a call that a log trigger caused']);
  await trusted.call('engine::log::error', { message: 'the end' });
  await waitFor('the last error fires', () => scene.fired.includes('the end'));
  expect(scene.fired).toEqual([
    'the cause',
    'during the call of the stranger',
    'during the request of the stranger',
    'the end',
  ]);
});

test('A log line under a genuine mark of another connection still fires triggers', async () => {
  await using stranger = await scene.stranger();
  await using trusted = await RawWorker.connect(scene.engine.url);
  await trusted.call('engine::log::error', { message: 'the cause' });
  const seen = await waitFor('a handler shows its context', () => scene.contexts[0]);
  await stranger.call('engine::log::error', { message: 'in its context' }, { traceparent: seen });
  await stranger.call('engine::log::error', { message: 'by its id', trace_id: traceOf(seen) });
  await waitFor('both fire', () => scene.fired.length >= 3);
  expect(scene.fired).toEqual(['the cause', 'in its context', 'by its id']);
});

interface Scene extends AsyncDisposable {
  readonly engine: HttpEngine;
  /** Bodies of the records that the log trigger fired for. */
  readonly fired: unknown[];
  /** The contexts that its handler was called with. */
  readonly contexts: string[];
  stranger(): Promise<RawWorker>;
  /** Takes as many calls of `api::slow`, logs without any context while all of them run, and answers them. */
  logWhileTheyRun(messages: readonly string[]): Promise<readonly Frame[]>;
}

async function openScene(): Promise<Scene> {
  const exposed = `rbac: {expose_functions: ['match("api::*")', 'match("engine::log::*")']}`;
  const engine = await startHttpEngine('', { workers: [`{name: svc-worker-manager, config: {port: 0, ${exposed}}}`] });
  const [fired, contexts]: [unknown[], string[]] = [[], []];
  const backend = await RawWorker.connect(engine.url);
  const watcher = await RawWorker.connect(engine.url);
  await backend.register('api::slow');
  await watcher.serve('watch::errors', (record, { traceparent }) => {
    fired.push(Object(record).body);
    contexts.push(String(traceparent));
  });
  await bind(watcher, 'log', 'watch::errors', { level: 'error' });
  await bind(backend, 'http', 'api::slow', { http_method: 'GET', api_path: '/slow' });
  return {
    engine,
    fired,
    contexts,
    stranger: () => RawWorker.connect(engine.urls.filter((url) => url.startsWith('ws:'))[1] ?? ''),
    async logWhileTheyRun(messages) {
      const calls: Frame[] = [];
      for (const _ of messages) calls.push(await backend.next('invokefunction'));
      await Promise.all(messages.map((message) => backend.call('engine::log::error', { message })));
      for (const call of calls) backend.answer(call, { result: { status_code: 200, body: {} } });
      return calls;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([backend, watcher].map((worker) => worker[Symbol.asyncDispose]()));
      await engine[Symbol.asyncDispose]();
    },
  };
}

async function bind(worker: RawWorker, type: string, functionId: string, config: object): Promise<void> {
  worker.send({ type: 'registertrigger', id: type, trigger_type: type, function_id: functionId, config });
  await worker.settled();
}

/** As it was public before: the beginning of every marked trace, and anything after it. */
function forgedId(): string {
  return `106c0de5${randomBytes(12).toString('hex')}`;
}

function contextOf(traceId: string): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
}

function traceOf(traceparent: unknown): string {
  return String(traceparent).slice(3, 35);
}
