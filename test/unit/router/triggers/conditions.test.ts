import { describe, expect, test } from 'vitest';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';
import type { ReceivedFrame } from '../../../support/fakes/fake-socket.ts';

describe('the condition of a trigger', () => {
  test('[T8] It is called with the event first, and false prevents the call of the handler', () => {
    const { fire, worker, engine } = engineWithCondition();
    fire({ n: 1 });
    const question = worker.nextCall();
    expect(question).toMatchObject({ function_id: 'cond', data: { n: 1 } });
    worker.result(question, false);
    expect(worker.received()).toEqual([]);
    expect(engine.count('triggers.skipped')).toBe(1);
  });

  test.each([[true], [null], [0], [''], ['false'], [{}], [[]]])('[T8] Its %j lets the handler run', (answer) => {
    const { fire, worker } = engineWithCondition();
    fire({ n: 1 });
    worker.result(worker.nextCall(), answer);
    expect(worker.nextCall()).toMatchObject({ function_id: 'handler', data: { n: 1 } });
  });

  test('[T8] No result at all lets the handler run', () => {
    const { fire, worker } = engineWithCondition();
    fire({});
    worker.result(worker.nextCall());
    expect(worker.nextCall()).toMatchObject({ function_id: 'handler' });
  });

  test('[T8] An error prevents the call of the handler, and is counted, logged and shown', () => {
    const { fire, worker, engine } = engineWithCondition();
    fire({});
    worker.fail(worker.nextCall(), { code: 'no_database', message: 'the database is away' });
    expectFailure(engine, worker, 'Condition cond: no_database: the database is away');
  });

  test('[T8] A condition that does not answer within 5 s prevents the call of the handler', () => {
    const { fire, worker, engine } = engineWithCondition();
    fire({});
    const question = worker.nextCall();
    engine.advance(4_950);
    expect(engine.count('triggers.condition_failed')).toBe(0);
    engine.advance(100);
    expectFailure(engine, worker, 'Condition cond: TIMEOUT: invocation timed out after 5000ms');
    worker.received();
    worker.result(question, true);
    expect(worker.received()).toEqual([]);
  });

  test('[T8] A condition that no worker offers prevents the call of the handler', () => {
    const { fire, worker, engine } = engineWithCondition();
    worker.unregister('cond');
    fire({});
    expectFailure(engine, worker, 'Condition cond: function_not_found: Function cond not found');
  });

  test('[T8] After a failure, the next event is checked as usual', () => {
    const { fire, worker } = engineWithCondition();
    fire({});
    worker.fail(worker.nextCall(), { code: 'x', message: 'y' });
    fire({});
    worker.result(worker.nextCall(), false);
    expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({ status: 'Active' });
  });

  test('[I8] It has the same depth in the chain as the handler', () => {
    const { fire, worker, engine } = engineWithCondition();
    fire({}, 10);
    const question = worker.nextCall();
    worker.result(question, true);
    expect([question, worker.nextCall()].map(({ baggage }) => baggage)).toEqual(['svc.depth=11', 'svc.depth=11']);
    fire({}, 64);
    expectFailure(engine, worker, expect.stringContaining('DEPTH_EXCEEDED'));
  });
});

describe('several events during a slow condition', () => {
  test('[S5] Handlers are called in the order of the events, whatever order the answers come in', () => {
    const { fire, worker } = engineWithCondition();
    for (const n of [1, 2, 3]) fire({ n });
    const [first, second, third] = worker.received('invokefunction');
    answer(worker, third, true);
    answer(worker, second, false);
    expect(worker.received()).toEqual([]);
    answer(worker, first, true);
    expect(worker.received('invokefunction').map(({ data }) => data)).toEqual([{ n: 1 }, { n: 3 }]);
  });

  test('[S5] Events about other keys do not wait', () => {
    const { fire, worker } = engineWithCondition();
    fire({ n: 1 }, 0, 'a');
    fire({ n: 2 }, 0, 'b');
    const [, second] = worker.received('invokefunction');
    answer(worker, second, true);
    expect(worker.nextCall()).toMatchObject({ data: { n: 2 } });
  });

  test('[W2] A trigger that was removed in the meantime does not run', () => {
    const { fire, worker } = engineWithCondition();
    fire({});
    const question = worker.nextCall();
    worker.unbind('t');
    worker.result(question, true);
    expect(worker.received()).toEqual([]);
  });
});

describe('the value of condition_function_id', () => {
  test.each([
    [5, 'The condition_function_id must be the id of a function, found a value of type number'],
    [['f'], 'The condition_function_id must be the id of a function, found an array'],
    ['', 'The condition_function_id must not be blank'],
    ['x'.repeat(300), 'The condition_function_id is 300 bytes long, over the limit of 256'],
  ])('[T8] %j is refused when the trigger is registered', (condition, message) => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect();
    worker.bind('t', 'tick', 'f', { config: { condition_function_id: condition } });
    expect(worker.receivedOne('triggerregistrationresult')).toMatchObject({
      error: { code: 'trigger_registration_failed', message },
    });
    expect(type.story).toEqual([]);
  });

  test('[T8] Null is no condition', () => {
    const engine = new EngineInMemory();
    const type = addTriggerType(engine, 'tick');
    const worker = engine.connect();
    worker.register('f');
    worker.bind('t', 'tick', 'f', { config: { condition_function_id: null } });
    engine.port.fire(type.bindings, Payload.ofText(rawJson({})), { depth: 0 });
    expect(worker.nextCall()).toMatchObject({ function_id: 'f' });
  });
});

test.each([
  [false, 'skip'],
  [null, 'pass'],
])('[T8] A module that calls a condition itself gets the meaning of %j', (result, verdict) => {
  const engine = new EngineInMemory();
  const worker = engine.connect();
  worker.register('cond');
  const verdicts: string[] = [];
  const payload = Payload.ofText(rawJson({}));
  engine.port.checkCondition({ functionId: 'cond', payload, depth: 0 }, (given) => verdicts.push(given));
  worker.result(worker.nextCall(), result);
  engine.port.checkCondition({ functionId: 'gone', payload, depth: 0 }, (given) => verdicts.push(given));
  expect(verdicts).toEqual([verdict, 'failed']);
});

function engineWithCondition() {
  const engine = new EngineInMemory();
  const type = addTriggerType(engine, 'tick');
  const worker = engine.connect({ ownSdk: true });
  for (const id of ['cond', 'handler']) worker.register(id);
  worker.bind('t', 'tick', 'handler', { config: { condition_function_id: 'cond' } });
  const fire = (event: unknown, depth = 0, order = ''): void =>
    engine.port.fire(type.bindings, Payload.ofText(rawJson(event)), { depth }, order);
  return { engine, worker, fire };
}

function answer(worker: TestWorker, question: ReceivedFrame | undefined, result: unknown): void {
  if (question === undefined) throw new Error('The condition was not asked');
  worker.result(question, result);
}

function expectFailure(engine: EngineInMemory, worker: TestWorker, error: unknown): void {
  expect(worker.received()).toEqual([]);
  expect(engine.count('triggers.condition_failed')).toBe(1);
  expect(engine.logLines.join('\n')).toContain('A condition failed');
  expect(worker.ask('engine::registered-triggers::info', { id: 't' })).toMatchObject({ status: 'Error', error });
}
