import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { OWN_SDK, openRestricted } from '../../../support/engine/restricted-port.ts';
import { TestPort } from '../../../support/engine/worker-port.ts';

const EXPOSED = { expose_functions: ['match("api::*")'] };
const MESSAGE = (id: string) => `function '${id}' not allowed (add to rbac.expose_functions)`;

describe('calls of a restricted connection', () => {
  test('[X5] An exposed function is called like any other', async () => {
    const { backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::add');
    const page = await browser();
    const id = page.invoke('api::add', { a: 1 });
    backend.result(backend.nextCall(), 3);
    expect(page.answerTo(id)).toMatchObject({ result: 3 });
  });

  test('[X5] Without expose_functions no function can be called', async () => {
    const { backend, browser } = await openRestricted();
    backend.register('api::add');
    const page = await browser();
    for (const id of ['api::add', 'engine::functions::list', 'engine::health::check', 'auth']) {
      expect(page.errorCodeOf(page.invoke(id))).toBe('FORBIDDEN');
    }
    expect(backend.received()).toEqual([]);
  });

  test('[PD-30] The functions of project workers can never be called, and the refusal names no setting', async () => {
    const { browser } = await openRestricted({ rbac: { expose_functions: ['match("worker::*")'] } });
    const page = await browser();
    expect(page.answerTo(page.invoke('worker::add'))).toMatchObject({
      error: { code: 'FORBIDDEN', message: "function 'worker::add' not allowed (for trusted connections alone)" },
    });
  });

  test.each([
    'secret::x',
    'auth',
    'API::add',
    'secret::\u0000',
    ' api::add',
    'аpi::add',
    'xapi::add',
    'api:add',
    '',
    ' ',
    '*',
    'engine::functions::list',
    'engine::register_trigger',
    'x'.repeat(300),
  ])('[X7] %j is refused for every action, with the same answer', async (hidden) => {
    const { engine, backend, browser } = await openRestricted({ rbac: EXPOSED });
    for (const id of ['secret::x', 'API::add', 'xapi::add']) backend.register(id);
    const page = await browser();
    const [call, job] = [
      page.invoke(hidden),
      page.invoke(hidden, {}, { action: { type: 'enqueue', queue: 'default' } }),
    ];
    page.invokeVoid(hidden);
    for (const id of [call, job]) {
      expect(page.errorCodeOf(id)).toBe('FORBIDDEN');
      expect(page.errorMessageOf(id)).toBe(MESSAGE(hidden.slice(0, 256)));
    }
    expect(engine.count('invocations.void_dropped', 'FORBIDDEN')).toBe(1);
    expect(backend.received()).toEqual([]);
  });

  test('[X7] In drop-in mode the id after translation decides', async () => {
    const memory = { settings: { isDropIn: true } };
    const { backend, browser } = await openRestricted({ rbac: { expose_functions: ['match("iii::*")'] }, memory });
    backend.register('svc::x');
    const page = await browser();
    expect(page.errorCodeOf(page.invoke('iii::x'))).toBe('FORBIDDEN');
    expect(backend.received()).toEqual([]);
  });

  test('[X10] A hidden function and a missing one get the same answer', async () => {
    const { backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('secret::x');
    const page = await browser();
    const answers = ['secret::x', 'secret::y'].map((id) => page.answerTo(page.invoke(id)));
    const [there, gone] = answers.map((answer) => JSON.stringify(answer.error).replace(/secret::[xy]/, 'secret'));
    expect(there).toBe(gone);
  });

  test('[wire 8.4] The refusal of a forbidden function names the list', async () => {
    const { backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::add');
    const page = await browser({ forbidden_functions: ['api::add'], allowed_functions: ['api::add'] });
    expect(page.errorMessageOf(page.invoke('api::add'))).toContain('(remove from rbac.forbidden_functions)');
  });

  test('[X5] The metadata registered at the time of the call decides', async () => {
    const { backend, browser, engine } = await openRestricted({
      rbac: { expose_functions: [{ metadata: { public: true } }] },
    });
    backend.register('f', { metadata: { public: true } });
    const page = await browser();
    page.invoke('f');
    backend.result(backend.nextCall(), 1);
    const second = engine.connect();
    second.register('f');
    expect(page.errorCodeOf(page.invoke('f'))).toBe('FORBIDDEN');
    second.unregister('f');
    page.invoke('f');
    expect(backend.nextCall()).toMatchObject({ function_id: 'f' });
  });

  test('[X9] A trusted worker that it calls keeps its own rights', async () => {
    const { backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::proxy');
    backend.register('secret::x');
    const page = await browser();
    page.invoke('api::proxy');
    const call = backend.nextCall();
    backend.invoke('secret::x');
    expect(backend.nextCall()).toMatchObject({ function_id: 'secret::x' });
    backend.result(call, 1);
  });
});

describe('limits of a restricted connection', () => {
  test('[guarantees 4] It may have 64 calls in flight', async () => {
    const { backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::slow');
    const page = await browser();
    const ids = Array.from({ length: 65 }, () => page.invoke('api::slow'));
    expect(page.errorCodeOf(ids[64] ?? '')).toBe('OVERLOADED');
    expect(backend.received('invokefunction')).toHaveLength(64);
  });

  test('[guarantees 4] Messages over the rate are refused, and close it after ten seconds', async () => {
    const { engine, backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::x');
    const page = await browser();
    const flood = (count: number): string[] => Array.from({ length: count }, () => page.invoke('api::x'));
    const ids = flood(401);
    expect(page.errorCodeOf(ids[400] ?? '')).toBe('RATE_LIMITED');
    for (let half = 0; half < 21; half++) {
      engine.advance(500);
      if (page.socket.isOpen) flood(150);
    }
    expect(page.socket.farewell).toMatchObject({ code: 4429 });
    expect(engine.count('connections.closed', 'too_many_messages')).toBe(1);
  });

  test.each<[string, (page: TestWorker) => void]>([
    ['rubbish', (page) => page.send('not JSON')],
    ['nothing', (page) => page.send(' ')],
    ['pings', (page) => page.send({ type: 'ping' })],
    ['telemetry', (page) => page.sendBinary('OTLP{}')],
    ['answers without a call', (page) => page.result({ type: '', invocation_id: 'x' }, 1)],
  ])('[guarantees 4] A client that floods with %s is closed too', async (_what, send) => {
    const { engine, browser } = await openRestricted({ rbac: EXPOSED });
    const page = await browser();
    for (let half = 0; half < 24; half++) {
      for (let message = 0; message < 200 && page.socket.isOpen; message++) send(page);
      engine.advance(500);
    }
    expect(page.socket.farewell).toMatchObject({ code: 4429 });
  });

  test('[guarantees 4] Registrations over the rate are refused, and answers are accepted', async () => {
    const { backend, browser } = await openRestricted({ browser: { messages: { perSecond: 1, burst: 2 } } });
    const page = await browser(undefined, OWN_SDK);
    page.register('ui::a');
    const asked = backend.invoke('ui::a');
    const call = page.nextCall();
    page.register('ui::b');
    page.register('ui::c');
    expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'RATE_LIMITED', function_id: 'ui::c' });
    page.result(call, 'late but true');
    expect(backend.answerTo(asked)).toMatchObject({ result: 'late but true' });
  });

  test('[guarantees 4] A client that neither registers nor calls within a minute is closed with 4401', async () => {
    const { engine, browser } = await openRestricted({ rbac: EXPOSED });
    const [idle, refused, registered, announced] = [await browser(), await browser(), await browser(), await browser()];
    refused.invoke('secret::x');
    registered.register('ui::x');
    announced.announce({ name: 'page' });
    for (let second = 0; second < 61; second++) {
      for (const page of [idle, refused, registered, announced]) page.sign();
      engine.advance(1_000);
    }
    for (const page of [idle, refused]) expect(page.socket.farewell).toMatchObject({ code: 4401 });
    for (const page of [registered, announced]) expect(page.socket.isOpen).toBe(true);
  });

  test('[guarantees 4] It may register a hundred functions and a hundred triggers', async () => {
    const { browser, engine } = await openRestricted({ rbac: { ...EXPOSED, allow_trigger_types: ['t'] } });
    const page = await browser();
    for (let number = 0; number < 101; number++) page.register(`ui::${number}`);
    expect(page.receivedOne('registrationrejected')).toMatchObject({ function_id: 'ui::100' });
    for (let number = 0; number < 101; number++) page.bind(`t-${number}`, 't', 'api::x');
    expect(page.receivedOne('triggerregistrationresult')).toMatchObject({ id: 't-100' });
    expect([...engine.context.triggers.bindings()]).toHaveLength(100);
  });

  test('[guarantees 4] A client that reads too slowly is closed with 4408 beyond 4 MiB', async () => {
    const { engine, backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::big');
    const page = await browser();
    page.socket.stopReading();
    const big = 'x'.repeat(200 * 1024);
    for (let answers = 0; answers < 21; answers++) {
      page.invoke('api::big');
      backend.result(backend.nextCall(), big);
      engine.flush();
    }
    expect(page.socket.farewell).toMatchObject({ code: 4408 });
  });
});

describe('the middleware of a port', () => {
  const withMiddleware = { rbac: EXPOSED, config: { middleware_function_id: 'mw' } };

  test('[wire 8.6] It runs in place of every exposed function, with the request and its caller', async () => {
    const { backend, browser } = await openRestricted(withMiddleware);
    for (const id of ['mw', 'api::x']) backend.register(id);
    const page = await browser({ context: { user: 7 } });
    const id = page.invoke('api::x', { n: 12345678901234567890n.toString() }, { metadata: { m: 1 } });
    const call = backend.nextCall();
    expect(call).toMatchObject({
      function_id: 'mw',
      metadata: { m: 1 },
      data: {
        function_id: 'api::x',
        payload: { n: '12345678901234567890' },
        action: null,
        context: { user: 7 },
        namespace: 'default',
      },
    });
    backend.result(call, { mine: true });
    expect(page.answerTo(id)).toMatchObject({ function_id: 'api::x', result: { mine: true } });
  });

  test('[X7] Functions that are not exposed do not reach it', async () => {
    const { backend, browser } = await openRestricted(withMiddleware);
    for (const id of ['mw', 'secret::x']) backend.register(id);
    const page = await browser();
    for (const id of ['secret::x', 'mw']) expect(page.errorCodeOf(page.invoke(id))).toBe('FORBIDDEN');
    expect(backend.received()).toEqual([]);
  });

  test('[modules 9.6] It may leave the call to the engine, with another payload', async () => {
    const { backend, browser } = await openRestricted(withMiddleware);
    for (const id of ['mw', 'api::x']) backend.register(id);
    const page = await browser();
    const id = page.invoke('api::x', { original: 1 });
    backend.result(backend.nextCall(), { action: 'continue' });
    const plain = backend.nextCall();
    expect(plain).toMatchObject({ function_id: 'api::x', data: { original: 1 } });
    backend.result(plain, 'done');
    expect(page.answerTo(id)).toMatchObject({ result: 'done' });
    page.invoke('api::x', { original: 1 });
    backend.result(backend.nextCall(), { action: 'continue', payload: { changed: 2 } });
    expect(backend.nextCall()).toMatchObject({ function_id: 'api::x', data: { changed: 2 } });
  });

  test.each<[string, (backend: TestWorker) => void, string]>([
    ['is not registered', () => {}, 'FORBIDDEN'],
    ['throws', (backend) => backend.fail(backend.nextCall(), { code: 'NO', message: 'no' }), 'NO'],
    ['is lost', (backend) => backend.drop(), 'invocation_stopped'],
  ])('[X6] A middleware that %s refuses the call', async (_what, happen, code) => {
    const { backend, browser } = await openRestricted(withMiddleware);
    if (code !== 'FORBIDDEN') backend.register('mw');
    backend.register('api::x');
    const page = await browser();
    const id = page.invoke('api::x');
    happen(backend);
    expect(page.errorCodeOf(id)).toBe(code);
  });

  test('[X6] A middleware that takes over 5 s refuses the call', async () => {
    const { engine, backend, browser } = await openRestricted(withMiddleware);
    for (const id of ['mw', 'api::x']) backend.register(id);
    const page = await browser();
    const id = page.invoke('api::x', {}, { timeout_ms: 60_000 });
    engine.advance(5_100);
    expect(page.errorCodeOf(id)).toBe('TIMEOUT');
    backend.result(backend.nextCall(), { action: 'continue' });
    expect(backend.received()).toEqual([]);
  });

  test('[guarantees 4] Calls that wait for it count as in flight, and end with their connection', async () => {
    const { backend, browser, engine } = await openRestricted(withMiddleware);
    for (const id of ['mw', 'api::x']) backend.register(id);
    const page = await browser();
    const ids = Array.from({ length: 65 }, () => page.invoke('api::x'));
    expect(page.errorCodeOf(ids[64] ?? '')).toBe('OVERLOADED');
    page.drop();
    for (const call of backend.received('invokefunction')) backend.result(call, { action: 'continue' });
    expect(backend.received()).toEqual([]);
    expect(engine.context.calls.openCount).toBe(0);
  });

  test('[wire 8.6] It gets the action of fire-and-forget calls and jobs, and its result answers an enqueue', async () => {
    const { backend, browser } = await openRestricted(withMiddleware);
    for (const id of ['mw', 'api::x']) backend.register(id);
    const page = await browser();
    page.invokeVoid('api::x');
    const call = backend.nextCall();
    expect(call.data).toMatchObject({ action: { type: 'void' } });
    backend.result(call, { action: 'continue' });
    expect(backend.nextCall()).toMatchObject({ function_id: 'api::x' });
    const id = page.invoke('api::x', {}, { action: { type: 'enqueue', queue: 'q' } });
    const job = backend.nextCall();
    expect(job.data).toMatchObject({ action: { type: 'enqueue', queue: 'q' } });
    backend.result(job, { receipt: 1 });
    expect(page.answerTo(id)).toMatchObject({ result: { receipt: 1 } });
  });

  test('[wire 8.6] It does not run for functions of the engine, and runs on the bridge except for its own worker', async () => {
    const { engine, backend } = await openRestricted(withMiddleware);
    const bridge = await TestPort.open({ engine, config: { middleware_function_id: 'mw' } });
    const [guarded, owner] = [await bridge.worker(), await bridge.worker()];
    owner.register('mw');
    backend.register('f');
    expect(guarded.ask('engine::functions::list')).toMatchObject({ functions: expect.any(Array) });
    guarded.invoke('f');
    expect(owner.nextCall()).toMatchObject({ function_id: 'mw', data: { function_id: 'f', context: {} } });
    owner.invoke('f');
    expect(backend.nextCall()).toMatchObject({ function_id: 'f' });
  });
});

describe('[X12] a connection of a restricted port', () => {
  test('has to authenticate again after 12 hours in any case', async () => {
    const { engine, backend, browser } = await openRestricted({ rbac: EXPOSED });
    backend.register('api::add');
    const page = await browser();
    page.invoke('api::add');
    const hour = 3_600_000;
    for (let passedMs = 0; passedMs < 12 * hour; passedMs += 20_000) {
      expect(page.socket.farewell).toBeUndefined();
      engine.advance(20_000);
      for (const worker of [page, backend]) worker.sign();
    }
    engine.advance(2_000);
    expect(page.socket.farewell).toMatchObject({ code: 4402 });
    expect(backend.socket.farewell).toBeUndefined();
  });

  test('is closed when its id is revoked', async () => {
    const { engine, backend, browser } = await openRestricted({ rbac: EXPOSED });
    const [page, other] = [await browser(), await browser()];
    const id = backend.invoke('engine::workers::revoke', { worker_id: page.workerId });
    expect(backend.answerTo(id)).toMatchObject({ result: { success: true } });
    engine.flush();
    expect(page.socket.farewell).toMatchObject({ code: 4402, reason: 'the connection was revoked' });
    expect(other.socket.farewell).toBeUndefined();
  });

  test('cannot revoke another, and a trusted worker cannot be revoked', async () => {
    const { backend, browser } = await openRestricted({
      rbac: { expose_functions: ['match("engine::workers::*")'] },
    });
    const [page, other] = [await browser(), await browser()];
    const revoke = (worker: TestWorker, worker_id: string) =>
      worker.errorCodeOf(worker.invoke('engine::workers::revoke', { worker_id }));
    expect(revoke(page, other.workerId)).toBe('FORBIDDEN');
    expect(revoke(backend, backend.workerId)).toBe('INVALID_ARGUMENTS');
    expect(revoke(backend, 'missing')).toBe('NOT_FOUND');
  });
});
