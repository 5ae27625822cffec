import { describe, expect, test } from 'vitest';
import type { StandardSchema } from '../../../../src/sdk/functions/schema.ts';
import { cron, http } from '../../../../src/sdk/triggers/trigger-kinds.ts';
import type { FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { connectSdkWorker, startSdkWorker } from '../../../support/fakes/sdk-worker.ts';

const provider = { registerTrigger() {}, unregisterTrigger() {} };

/** Answers the question that follows a `ready`. */
function answerCalls(socket: FakeSocket): void {
  for (const { type, invocation_id } of socket.take()) {
    if (type === 'invokefunction')
      socket.say({ type: 'invocationresult', invocation_id, error: { code: 'X', message: '' } });
  }
}

describe('registering', () => {
  test('[SDK-2] a function is registered with description, schemas as JSON Schema, and metadata', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const input = { type: 'object' };
    const standard: StandardSchema = {
      '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
    };
    svc.registerFunction('bare', () => 1);
    svc.registerFunction(
      { id: 'full', description: 'All of it', input, output: { type: 'number' }, metadata: { internal: true } },
      () => 1,
    );
    svc.registerFunction({ id: 'given', input: standard, request_format: { title: 'given' } }, () => 1);
    svc.registerFunction({ id: 'silent', input: standard }, () => 1);
    await platform.settle();
    expect(socket.take()).toEqual([
      { type: 'registerfunction', id: 'bare' },
      {
        type: 'registerfunction',
        id: 'full',
        description: 'All of it',
        request_format: input,
        response_format: { type: 'number' },
        metadata: { internal: true },
      },
      { type: 'registerfunction', id: 'given', request_format: { title: 'given' } },
      { type: 'registerfunction', id: 'silent' },
    ]);
  });

  test('[SDK-1] a trigger names its function by id or by reference', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const add = svc.registerFunction('math::add', () => 1);
    const byReference = svc.registerTrigger({ type: 'http', function_id: add, config: { api_path: '/add' } });
    svc.registerTrigger({ type: 'cron', function_id: 'math::sub', metadata: { tenant: 'acme' } });
    await platform.settle();
    const triggers = socket.takeType('registertrigger');
    expect(triggers).toEqual([
      {
        type: 'registertrigger',
        id: byReference.id,
        trigger_type: 'http',
        function_id: 'math::add',
        config: { api_path: '/add' },
      },
      {
        type: 'registertrigger',
        id: expect.any(String),
        trigger_type: 'cron',
        function_id: 'math::sub',
        metadata: { tenant: 'acme' },
      },
    ]);
    expect(triggers[1]?.id).not.toBe(byReference.id);
  });

  test('[SDK-1] a definition has the triggers of its function, which are withdrawn with it', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const create = svc.registerFunction(
      'orders::create',
      { description: 'Creates', trigger: [http('POST', '/orders'), { ...cron('@daily'), metadata: 1 }] },
      () => 1,
    );
    await platform.settle();
    expect(socket.take()).toMatchObject([
      { type: 'registerfunction', id: 'orders::create', description: 'Creates' },
      { type: 'registertrigger', trigger_type: 'http', function_id: 'orders::create', config: { api_path: '/orders' } },
      { type: 'registertrigger', trigger_type: 'cron', function_id: 'orders::create', metadata: 1 },
    ]);
    create.unregister();
    await platform.settle();
    expect(socket.take().map(({ type }) => type)).toEqual([
      'unregistertrigger',
      'unregistertrigger',
      'unregisterfunction',
    ]);
  });

  test('[SDK-7] an invalid registration throws at once, with the value and the rule', () => {
    const { svc } = startSdkWorker();
    const rule = 'expected text of 1 to 256 bytes without control characters';
    expect(() => svc.registerFunction('', () => 1)).toThrow(`registerFunction: id: "", ${rule}`);
    expect(() => svc.registerFunction('a\nb', () => 1)).toThrow(rule);
    expect(() => svc.registerFunction('€'.repeat(86), () => 1)).toThrow(rule);
    svc.registerFunction('€'.repeat(85), () => 1);
    expect(() => svc.registerTrigger({ type: String(' '), function_id: 'a' })).toThrow('registerTrigger: type: " "');
    expect(() => svc.registerTriggerType({ id: '', description: '' }, provider)).toThrow('registerTriggerType: id');
    const half = JSON.parse('{ "registerTrigger": 1 }');
    expect(() => svc.registerTriggerType({ id: 'tick', description: '' }, half)).toThrow('the provider of tick lacks');
    expect(() => svc.registerFunction('a::b', half)).toThrow('the handler of a::b is not a function');
    expect(() => svc.use(half)).toThrow('the middleware is not a function');
    expect(() => svc.registerFunction({ id: 'big', metadata: 1n }, () => 1)).toThrow("'big' cannot be registered");
    expect(() => svc.registerFunction({ id: 'bad', input: { type: 'text' } }, () => 1)).toThrow('type is "text"');
  });

  test('[SDK-7] an id can be registered once, and again after it was withdrawn', () => {
    const { svc } = startSdkWorker();
    const first = svc.registerFunction('a::b', () => 1);
    expect(() => svc.registerFunction('a::b', () => 2)).toThrow(
      "function 'a::b' is already registered by this worker; unregister it first",
    );
    first.unregister();
    svc.registerFunction('a::b', () => 3);
  });

  test('[SDK-7] withdrawing is sent once, and later calls are answered as not found', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const add = svc.registerFunction('math::add', () => 1);
    const hook = svc.registerTrigger({ type: 'http', function_id: add });
    const type = svc.registerTriggerType({ id: 'tick', description: 'Tick' }, provider);
    await platform.settle();
    socket.take();
    for (const one of [hook, add, type, hook, add, type]) one.unregister();
    await platform.settle();
    expect(socket.take()).toEqual([
      { type: 'unregistertrigger', id: hook.id, trigger_type: 'http' },
      { type: 'unregisterfunction', id: 'math::add' },
      { type: 'unregistertriggertype', id: 'tick' },
    ]);
    socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'math::add' });
    await platform.settle();
    expect(socket.take()).toMatchObject([{ error: { code: 'function_not_found' } }]);
  });
});

describe('a new connection', () => {
  test('[W4] gets types, functions and triggers with the same ids again, then the waiting calls', async () => {
    const { platform, svc } = startSdkWorker({ announce: true });
    const hook = svc.registerTrigger({ type: String('tick'), function_id: 'a::b', config: { every: 1 } });
    svc.registerFunction('a::b', () => 1);
    const gone = svc.registerFunction('gone', () => 1);
    svc.registerTriggerType({ id: 'tick', description: 'Tick', trigger_request_format: { type: 'object' } }, provider);
    void svc.trigger({ function_id: 'x::y' }).catch(() => {});
    const first = await platform.connect('w-1');
    const kinds = (socket: FakeSocket) => socket.take().map(({ type, id, function_id }) => [type, id ?? function_id]);
    expect(kinds(first)).toEqual([
      ['invokefunction', 'engine::workers::register'],
      ['registertriggertype', 'tick'],
      ['registerfunction', 'a::b'],
      ['registerfunction', 'gone'],
      ['registertrigger', hook.id],
      ['invokefunction', 'x::y'],
    ]);
    first.drop();
    gone.unregister();
    void svc.trigger({ function_id: 'x::z' }).catch(() => {});
    await platform.pass(15_000);
    const second = await platform.connect('w-2');
    expect(kinds(second)).toEqual([
      ['reattach', undefined],
      ['invokefunction', 'engine::workers::register'],
      ['registertriggertype', 'tick'],
      ['registerfunction', 'a::b'],
      ['registertrigger', hook.id],
      ['invokefunction', 'x::z'],
    ]);
  });
});

describe('a refused registration', () => {
  const rejected = (function_id: string) => ({
    type: 'registrationrejected',
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    namespace: 'default',
    owner_worker_id: '',
    function_id,
    message: 'ids beginning engine:: belong to the engine',
  });
  const text =
    "the engine refused the function 'engine::x': FUNCTION_NAMESPACE_CONFLICT: ids beginning engine:: belong to the engine";

  test('[SDK-7] that no caller awaits is logged once, and not again after a reconnect', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    svc.registerFunction('engine::x', () => 1);
    socket.say(rejected('engine::x'));
    socket.say(rejected('engine::x'));
    expect(platform.logs).toEqual([{ level: 'error', message: text }]);
    socket.drop();
    await platform.pass(15_000);
    const next = await platform.connect('w-2');
    next.say(rejected('engine::x'));
    expect(platform.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(next.takeType('registerfunction')).toHaveLength(1);
  });

  test('[SDK-7] is an event for every listener, on every connection', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const rejections: unknown[] = [];
    svc.on('rejected', (rejection) => rejections.push(rejection));
    svc.registerFunction('engine::x', () => 1);
    socket.say(rejected('engine::x'));
    socket.drop();
    await platform.pass(15_000);
    (await platform.connect('w-2')).say(rejected('engine::x'));
    const error = expect.objectContaining({ code: 'FUNCTION_NAMESPACE_CONFLICT', message: text });
    expect(rejections).toEqual([
      { subject: 'function', id: 'engine::x', error },
      { subject: 'function', id: 'engine::x', error },
    ]);
    expect(platform.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('[SDK-7] rejects ready with its reason, even if ready is called later', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const bad = svc.registerFunction('engine::x', () => 1);
    const ready = bad.ready();
    socket.say(rejected('engine::x'));
    await platform.settle();
    answerCalls(socket);
    const refusal = { code: 'FUNCTION_NAMESPACE_CONFLICT', message: expect.stringContaining("function 'engine::x'") };
    await expect(ready).rejects.toMatchObject(refusal);
    await expect(bad.ready()).rejects.toMatchObject(refusal);
    expect(platform.logs).toEqual([]);
  });

  test('[SDK-7] does not delay an accepted one, which is ready when the engine has read it', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const good = svc.registerFunction('a::b', () => 1);
    let isReady = false;
    const ready = good.ready().then(() => (isReady = true));
    await platform.settle();
    expect(isReady).toBe(false);
    answerCalls(socket);
    await ready;
    expect(isReady).toBe(true);
  });

  test('[SDK-7] keeps ready waiting across the loss of a connection', async () => {
    const { platform, svc } = startSdkWorker();
    const good = svc.registerFunction('a::b', () => 1);
    let isReady = false;
    const ready = good.ready().then(() => (isReady = true));
    const first = await platform.connect('w-1');
    first.drop();
    await platform.pass(15_000);
    const second = await platform.connect('w-2');
    await platform.settle();
    expect(isReady).toBe(false);
    answerCalls(second);
    await ready;
  });

  test('[SDK-7] of a trigger has the text of its provider', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    // As a program without types would write it.
    const type: string = 'http';
    const hook = svc.registerTrigger({ type, function_id: 'a::b', config: {} });
    const error = { code: 'trigger_registration_failed', message: 'api_path is required for http triggers' };
    const result = { type: 'triggerregistrationresult', id: hook.id, trigger_type: 'http', function_id: 'a::b' };
    socket.say(result);
    expect(platform.logs).toEqual([]);
    socket.say({ ...result, error });
    expect(platform.logs[0]?.message).toBe(
      "the engine refused the http trigger of 'a::b': trigger_registration_failed: api_path is required for http triggers",
    );
    await expect(hook.ready()).rejects.toMatchObject(error.code === '' ? {} : { code: error.code });
  });

  test('[SDK-7] of a trigger type, or of a withdrawn function, is an event too', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const type = svc.registerTriggerType({ id: 'tick', description: 'Tick' }, provider);
    socket.say({ ...rejected(''), trigger_type: String('tick') });
    socket.say(rejected('never::was'));
    expect(platform.logs.map(({ message }) => message.slice(0, 50))).toEqual([
      "the engine refused the trigger type 'tick': FUNCTI",
      "the engine refused the registration 'never::was': ",
    ]);
    await expect(type.ready()).rejects.toMatchObject({ code: 'FUNCTION_NAMESPACE_CONFLICT' });
  });

  test('[SDK-7] of a trigger type does not affect the function with the same id', async () => {
    const { platform, svc, socket } = await connectSdkWorker();
    const tick = svc.registerFunction('tick', () => 1);
    svc.registerTriggerType({ id: 'tick', description: 'Tick' }, provider);
    socket.say({ ...rejected(''), trigger_type: String('tick') });
    const ready = tick.ready();
    await platform.settle();
    answerCalls(socket);
    await ready;
  });
});
