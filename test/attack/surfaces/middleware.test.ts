// Ways around the middleware of a port: a call runs only if a trusted worker let it pass, for the connection that asked.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { connectPage, leave } from '../restricted-page.ts';

const YAML = `limits: {browser: {ask_timeout_ms: 1000}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - name: svc-worker-manager
    config:
      port: 0
      middleware_function_id: gate::check
      rbac: {expose_functions: ['match("api::*")', 'match("gate::*")']}
  - {name: svc-queue}
`;

/** Results of the middleware that are not the word to let the call pass. */
const NOT_CONTINUE: readonly unknown[] = [
  null,
  'continue',
  '{"action":"continue"}',
  ['continue'],
  [{ action: 'continue' }],
  { action: 'Continue' },
  { action: 'continue ' },
  { action: ['continue'] },
  { action: { action: 'continue' } },
  { result: { action: 'continue' } },
  { Action: 'continue' },
  { continue: true },
];

let engine: TestEngine;
let gate: RawWorker;
let backend: RawWorker;
const ran: unknown[] = [];

beforeAll(async () => {
  engine = await startTestEngine({ yaml: YAML });
  backend = await RawWorker.connect(engine.url);
  await backend.serve('api::pay', (data) => {
    ran.push(data);
    return 'paid';
  });
  gate = await openGate();
});

afterAll(() => engine?.drain());

async function openGate(): Promise<RawWorker> {
  const worker = await RawWorker.connect(engine.url);
  await worker.register('gate::check');
  return worker;
}

const letPass = (call: Frame, more: object = {}): void =>
  gate.answer(call, { result: { action: 'continue', ...more } });

/** One call that passes shows that no earlier one is still about to run. */
async function expectRan(expected: readonly unknown[]): Promise<void> {
  await using page = await connectPage(engine);
  const id = page.startCall('api::pay', 'the last');
  letPass(await gate.next('invokefunction'));
  await page.answerTo(id);
  expect(ran.splice(0)).toEqual([...expected, 'the last']);
}

describe('The function does not run', () => {
  test.each(NOT_CONTINUE.map((result) => [JSON.stringify(result), result] as const))(
    'if the middleware returns %s',
    async (_, result) => {
      await using page = await connectPage(engine);
      const id = page.startCall('api::pay', 1);
      gate.answer(await gate.next('invokefunction'), { result });
      expect((await page.answerTo(id)).result).toEqual(result);
      await expectRan([]);
    },
  );

  test('if the middleware fails with an error that says to continue', async () => {
    await using page = await connectPage(engine);
    const id = page.startCall('api::pay', 1);
    gate.answer(await gate.next('invokefunction'), { error: { code: 'no', message: 'no', action: 'continue' } });
    expect((await page.answerTo(id)).error).toMatchObject({ code: 'no' });
    await expectRan([]);
  });

  test('if the connection left before the middleware let it pass', async () => {
    const page = await connectPage(engine);
    await page.register('ui::mine');
    page.startCall('api::pay', 1);
    const asked = await gate.next('invokefunction');
    await leave(page);
    const code = async (): Promise<unknown> => Object((await backend.call('ui::mine')).error).code;
    await expect.poll(code).toBe('function_not_found');
    letPass(asked);
    await expectRan([]);
  });

  test('if the middleware answers after its time, also for a call that waits longer', async () => {
    await using page = await connectPage(engine);
    const id = page.startCall('api::pay', 1, { timeout_ms: 60_000 });
    const asked = await gate.next('invokefunction');
    expect((await page.answerTo(id)).error).toMatchObject({ code: 'TIMEOUT' });
    letPass(asked);
    await expectRan([]);
  });

  test('twice if the middleware answers twice', async () => {
    await using page = await connectPage(engine);
    const id = page.startCall('api::pay', 'once');
    const asked = await gate.next('invokefunction');
    letPass(asked);
    letPass(asked);
    await page.answerTo(id);
    await expectRan(['once']);
  });

  test('if another worker or a page answers in place of the middleware', async () => {
    await using page = await connectPage(engine);
    await using stranger = await connectPage(engine);
    const id = page.startCall('api::pay', 1);
    const asked = await gate.next('invokefunction');
    for (const other of [backend, stranger, page]) other.answer(asked, { result: { action: 'continue' } });
    for (const other of [backend, stranger, page]) await other.settled();
    gate.answer(asked, { error: { code: 'no', message: 'no' } });
    expect((await page.answerTo(id)).error).toMatchObject({ code: 'no' });
    await expectRan([]);
  });

  test('while the worker of the middleware is away, and a page that registers the middleware is not asked', async () => {
    await using page = await connectPage(engine);
    const id = page.startCall('api::pay', 1);
    await gate.next('invokefunction');
    await leave(gate);
    expect((await page.answerTo(id)).error).toMatchObject({ code: 'invocation_stopped' });
    await using stranger = await connectPage(engine);
    await stranger.register('gate::check');
    expect((await page.call('api::pay', 2)).error).toMatchObject({ code: 'FORBIDDEN' });
    expect(stranger.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
    gate = await openGate();
    await expectRan([]);
  });
});

describe('The middleware decides', () => {
  test('on fire-and-forget calls', async () => {
    await using page = await connectPage(engine);
    page.send({ type: 'invokefunction', function_id: 'api::pay', data: 1, action: { type: 'void' } });
    const asked = await gate.next('invokefunction');
    expect(asked.data).toMatchObject({ function_id: 'api::pay', action: { type: 'void' } });
    gate.answer(asked, { result: null });
    await expectRan([]);
  });

  test('on calls of the middleware itself', async () => {
    await using page = await connectPage(engine);
    const id = page.startCall('gate::check', { function_id: 'api::pay', payload: 1, action: null });
    const asked = await gate.next('invokefunction');
    expect(asked.data).toMatchObject({ function_id: 'gate::check' });
    gate.answer(asked, { result: 'no' });
    expect((await page.answerTo(id)).result).toBe('no');
    await expectRan([]);
  });

  test('with the members of its own answer, whatever the payload of the page contains', async () => {
    await using page = await connectPage(engine);
    const hostile = '{"action":"continue","payload":"forged","__proto__":{"action":"continue"}}';
    page.sendText(`{"type":"invokefunction","invocation_id":"x","function_id":"api::pay","data":${hostile}}`);
    const asked = await gate.next('invokefunction');
    expect(Object.keys(Object(asked.data)).sort()).toEqual([
      'action',
      'context',
      'function_id',
      'namespace',
      'payload',
    ]);
    letPass(asked, { payload: 'checked' });
    await page.answerTo('x');
    await expectRan(['checked']);
  });

  test('and does not widen what the page may call', async () => {
    await using page = await connectPage(engine);
    await backend.serve('secret::pay', () => ran.push('secret'));
    const id = page.startCall('secret::pay', 1);
    expect((await page.answerTo(id)).error).toMatchObject({ code: 'FORBIDDEN' });
    const passed = page.startCall('api::pay', 1);
    letPass(await gate.next('invokefunction'), { function_id: 'secret::pay', payload: 'mine' });
    await page.answerTo(passed);
    await expectRan(['mine']);
  });

  test('on jobs, before they are stored', async () => {
    await using page = await connectPage(engine);
    const id = page.startCall('api::pay', 1, { action: { type: 'enqueue', queue: 'default' } });
    const asked = await gate.next('invokefunction');
    expect(asked.data).toMatchObject({ function_id: 'api::pay', action: { type: 'enqueue', queue: 'default' } });
    gate.answer(asked, { result: 'refused' });
    expect((await page.answerTo(id)).result).toBe('refused');
    await expectRan([]);
  });
});
