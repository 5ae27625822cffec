// What a log trigger causes is marked, so that its records fire no log trigger (O3).

import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { QuietTraces } from '../../../../src/core/telemetry/logs/quiet-traces.ts';
import { traceIdOf } from '../../../../src/core/telemetry/spans/context.ts';
import { logFunctions } from '../../../../src/modules/observability/functions.ts';
import { plugIn } from '../../../../src/modules/plug-in.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import type { BuiltinCall } from '../../../../src/router/builtin.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';
import { openRestricted } from '../../../support/engine/restricted-port.ts';
import type { ReceivedFrame } from '../../../support/fakes/fake-socket.ts';
import { SeededRandom } from '../../../support/random/seeded-random.ts';
import { ALL_TRACES, Observed } from '../../../support/telemetry/observed.ts';

function engineWithLogTrigger() {
  const calls: BuiltinCall[] = [];
  const note = {
    id: 'note',
    description: 'Notes who calls',
    handle: (_payload: unknown, call: BuiltinCall) => calls.push(call),
  };
  const engine = new EngineInMemory({ builtins: [note] });
  const type = addTriggerType(engine, 'log');
  const worker = engine.connect();
  worker.register('on_log');
  worker.bind('t', 'log', 'on_log');
  const fire = (): void =>
    engine.port.fire(
      type.bindings,
      Payload.ofText(rawJson({})),
      engine.context.quietTraces.cause(engine.context.random.token()),
    );
  const next = (): ReceivedFrame => {
    const call = worker.received().find((frame) => frame.type === 'invokefunction');
    if (call === undefined) throw new Error('No call came');
    return call;
  };
  return { engine, worker, calls, fire, next };
}

test('[O3] [fault 45] the handler of a log trigger gets a marked context, and a call with that context stays marked', () => {
  const { engine, worker, calls, fire, next } = engineWithLogTrigger();
  const observed = new Observed(engine);
  fire();
  const { traceparent } = next();
  expect(engine.context.quietTraces.isMarkedContext(String(traceparent))).toBe(true);
  expect(observed.span('trigger on_log').parent_span_id).toBeNull();
  worker.invoke('note', {}, { traceparent });
  expect(engine.context.quietTraces.isMarkedContext(calls[0]?.traceparent)).toBe(true);
});

test('[O3] the mark exists without sampling and without a collector', () => {
  for (const sampling of ['off', { ...ALL_TRACES, defaultRate: 0 }] as const) {
    const { engine, fire, next } = engineWithLogTrigger();
    if (sampling !== 'off') new Observed(engine, { sampling });
    fire();
    expect(next().traceparent).toMatch(/^00-106c0de5[\da-f]{24}-[\da-f]{16}-00$/);
  }
});

test('[O3] [fault 45] calls that a handler makes without a context are marked while it runs, and not later', () => {
  const { engine, worker, calls, fire, next } = engineWithLogTrigger();
  fire();
  const running = next();
  worker.invoke('note');
  worker.result(running, null);
  worker.invoke('note');
  expect(calls.map(({ traceparent }) => engine.context.quietTraces.isMarkedContext(traceparent))).toEqual([
    true,
    false,
  ]);
});

test('[O3] a record with a marked trace is quiet; any other is not', async () => {
  const service = { serviceName: 'svc', engineVersion: '0.0.0', resource: { 'service.name': 'svc' } };
  const engine = new EngineInMemory();
  plugIn(engine.context, 'logs', { functions: logFunctions(engine.port, service), triggerTypes: [] });
  const observed = new Observed(engine);
  const worker = engine.connect();
  const marked = traceIdOf(engine.context.quietTraces.cause(engine.context.random.token()).traceparent);
  for (const trace_id of [marked, forgedFrom(marked), 'a'.repeat(32), undefined]) {
    worker.invoke('engine::log::info', { message: 'hello', trace_id });
    await engine.turn();
  }
  expect(observed.logs().map(({ is_quiet }) => is_quiet)).toEqual([true, undefined, undefined, undefined]);
});

describe('the context of a call', () => {
  test.each([
    ['of a trusted connection', 'trusted', true],
    ['of a restricted connection that runs nothing marked', 'idle', false],
    ['of a restricted connection that runs a handler of a log trigger', 'running', true],
    ['of a restricted connection that has run one', 'done', false],
  ] as const)('%s counts as marked: %s %s', async (_case, state, isBelieved) => {
    const { engine, backend, browser } = await openRestricted({ rbac: { expose_functions: ['match("api::*")'] } });
    const type = addTriggerType(engine, 'log');
    const worker = state === 'trusted' ? backend : await browser();
    const { quietTraces, random } = engine.context;
    backend.register('api::seen');
    worker.register('api::on_log');
    if (state === 'running' || state === 'done') {
      backend.bind('t', 'log', 'api::on_log');
      engine.port.fire(type.bindings, Payload.ofText(rawJson({})), quietTraces.cause(random.token()));
      const running = worker.nextCall();
      if (state === 'done') worker.result(running, null);
    }
    const { traceparent } = quietTraces.cause(random.token());
    worker.invoke('api::seen', {}, { traceparent });
    const seen = String(backend.nextCall().traceparent);
    expect(quietTraces.isMarkedContext(seen)).toBe(isBelieved);
    expect(seen.includes(traceIdOf(traceparent))).toBe(isBelieved);
    expect(engine.count('traces.marks_refused', 'connection')).toBe(isBelieved ? 0 : 1);
  });
});

describe('the mark', () => {
  const token = () => new SeededRandom(randomInt(2 ** 31)).token();

  test('depends on the key and on every digit of the trace id', () => {
    const traces = new QuietTraces('one key');
    const { traceparent } = traces.cause(token());
    expect(traces.isMarkedContext(traceparent)).toBe(true);
    expect(new QuietTraces('another key').isMarkedContext(traceparent)).toBe(false);
    expect(new QuietTraces('one key').isMarkedContext(traceparent)).toBe(true);
    for (let at = 3; at < 35; at++) {
      const other = traceparent[at] === '0' ? '1' : '0';
      expect(traces.isMarkedContext(traceparent.slice(0, at) + other + traceparent.slice(at + 1))).toBe(false);
    }
  });

  test('is in none of ten thousand random ids with the same first digits', () => {
    const traces = new QuietTraces('one key');
    const ids = Array.from({ length: 10_000 }, () => `106c0de5${token().slice(8)}`);
    expect(ids.filter((id) => traces.isMarked(id))).toEqual([]);
  });

  test('is recognised after more ids than are remembered', () => {
    const traces = new QuietTraces('one key');
    const { traceparent } = traces.cause(token());
    for (let one = 0; one < 3_000; one++) traces.isMarked(`106c0de5${token().slice(8)}`);
    expect(traces.isMarkedContext(traceparent)).toBe(true);
  });
});

/** One digit of the proof is different. */
function forgedFrom(marked: string): string {
  return marked.slice(0, -1) + (marked.endsWith('0') ? '1' : '0');
}
