import { describe, expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const TOO_DEEP = `${'['.repeat(129)}${']'.repeat(129)}`;

describe('unreadable frames with a readable call id', () => {
  test('[I1] A call with a payload nested too deep gets BAD_REQUEST', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    caller.send(`{"type":"invokefunction","invocation_id":"c1","function_id":"math::add","data":${TOO_DEEP}}`);
    expect(caller.errorCodeOf('c1')).toBe('BAD_REQUEST');
    expect(caller.errorMessageOf('c1')).toContain('nested too deep');
    expect(engine.count('frames.refused')).toBe(1);
  });

  test('[I1] A call with an unknown action gets a BAD_REQUEST that names the field', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const id = caller.invoke('math::add', {}, { action: { type: 'sometime' } });
    expect(caller.errorCodeOf(id)).toBe('BAD_REQUEST');
    expect(caller.errorMessageOf(id)).toContain("field 'action");
  });

  test('[I1] An unreadable result ends its call, and a second result is late', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    const caller = engine.connect();
    worker.register('math::add');
    const id = caller.invoke('math::add');
    const call = worker.nextCall();
    worker.send(`{"type":"invocationresult","invocation_id":"${String(call.invocation_id)}","result":${TOO_DEEP}}`);
    expect(caller.errorCodeOf(id)).toBe('BAD_REQUEST');
    worker.result(call, 3);
    expect(caller.answersTo(id)).toHaveLength(1);
    expect(engine.count('invocations.late_results')).toBe(1);
  });

  test('[I1] An unreadable result ends no call of another worker', () => {
    const engine = new EngineInMemory();
    const worker = engine.connect();
    const outsider = engine.connect();
    const caller = engine.connect();
    worker.register('math::add');
    const id = caller.invoke('math::add');
    const call = worker.nextCall();
    outsider.send(`{"type":"invocationresult","invocation_id":"${String(call.invocation_id)}","result":${TOO_DEEP}}`);
    expect(caller.answersTo(id)).toEqual([]);
  });

  test('[V1] A fire-and-forget call is not answered, even if it has an id', () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const start = '{"type":"invokefunction","invocation_id":"c1","action":{"type":"void"}';
    caller.send(`${start},"function_id":"f","data":${TOO_DEEP}}`);
    caller.send(`${start},"function_id":5}`);
    expect(caller.received()).toEqual([]);
    expect(engine.count('frames.refused')).toBe(2);
  });

  test('[I1] A large frame that another thread refuses is answered in the same way', async () => {
    const engine = new EngineInMemory();
    const caller = engine.connect();
    const start = '{"type":"invokefunction","invocation_id":"c1","function_id":"f","metadata":"';
    caller.send(`${start}${'x'.repeat(300_000)}","data":${TOO_DEEP}}`);
    caller.send({ type: 'ping' });
    engine.pool.finishScan();
    await engine.turn();
    expect(caller.received().map(({ type }) => type)).toEqual(['invocationresult', 'pong']);
    expect(caller.errorCodeOf('c1')).toBe('BAD_REQUEST');
  });
});
