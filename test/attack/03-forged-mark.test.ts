// A restricted connection sends trace contexts that look like those of log triggers, to silence the errors of others.

import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage } from './restricted-page.ts';

/** A little less than the calls that a restricted connection may have in flight. */
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

test('Errors of a worker fire log triggers during fifty calls with forged contexts', async () => {
  await using page = await scene.page();
  for (let one = 0; one < FORGED; one++) {
    page.startCall('api::slow', {}, { traceparent: contextOf(forgedId()) });
  }
  await scene.logWhileTheyRun(Array.from({ length: FORGED }, (_, one) => `error ${one}`));
  await waitFor('every error fires', () => scene.fired.length >= FORGED);
  expect(scene.fired).toHaveLength(FORGED);
});

test('Errors of a worker fire log triggers during fifty HTTP requests with forged contexts', async () => {
  const replies = Array.from({ length: FORGED }, () =>
    ask(scene.engine, '/slow', { headers: { traceparent: contextOf(forgedId()) } }),
  );
  await scene.logWhileTheyRun(Array.from({ length: FORGED }, (_, one) => `error ${one}`));
  await waitFor('every error fires', () => scene.fired.length >= FORGED);
  expect(scene.fired).toHaveLength(FORGED);
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 200));
});

test('A genuine mark has no effect when a page sends it, over its socket or over HTTP', async () => {
  await using page = await scene.page();
  await using trusted = await RawWorker.connect(scene.engine.url);
  await trusted.call('engine::log::error', { message: 'the cause' });
  const seen = await waitFor('a handler shows its context', () => scene.contexts[0]);

  page.startCall('api::slow', {}, { traceparent: seen });
  const [overSocket] = await scene.logWhileTheyRun(['during the call of the page']);
  void ask(scene.engine, '/slow', { headers: { traceparent: seen } });
  const [overHttp] = await scene.logWhileTheyRun(['during the request of the page']);
  for (const call of [overSocket, overHttp]) expect(traceOf(call?.traceparent)).not.toBe(traceOf(seen));

  // From a trusted connection the mark has its effect.
  trusted.startCall('api::slow', {}, { traceparent: seen });
  await scene.logWhileTheyRun(['during a call that a log trigger caused']);
  await trusted.call('engine::log::error', { message: 'the end' });
  await waitFor('the last error fires', () => scene.fired.includes('the end'));
  expect(scene.fired).toEqual([
    'the cause',
    'during the call of the page',
    'during the request of the page',
    'the end',
  ]);
});

test('A log record of a page with the genuine mark of another connection fires log triggers', async () => {
  await using page = await scene.page();
  await using trusted = await RawWorker.connect(scene.engine.url);
  await trusted.call('engine::log::error', { message: 'the cause' });
  const seen = await waitFor('a handler shows its context', () => scene.contexts[0]);
  await page.call('engine::log::error', { message: 'in its context' }, { traceparent: seen });
  await page.call('engine::log::error', { message: 'by its id', trace_id: traceOf(seen) });
  await waitFor('both fire', () => scene.fired.length >= 3);
  expect(scene.fired).toEqual(['the cause', 'in its context', 'by its id']);
});

interface Scene extends AsyncDisposable {
  readonly engine: HttpEngine;
  /** Bodies of the records for which the log trigger fired. */
  readonly fired: unknown[];
  /** The contexts of the calls of its handler. */
  readonly contexts: string[];
  page(): Promise<RawWorker>;
  /** Takes one call of `api::slow` for each message, logs without a context while all of them run, and answers them. */
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
    page: () => connectPage(engine),
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

/** A trace id with the prefix that every marked trace once had. */
function forgedId(): string {
  return `106c0de5${randomBytes(12).toString('hex')}`;
}

function contextOf(traceId: string): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
}

function traceOf(traceparent: unknown): string {
  return String(traceparent).slice(3, 35);
}
