// What a log trigger causes is marked, so that the records of it fire no log trigger (O3).

import { expect, test } from 'vitest';
import { isQuietContext, quietCause } from '../../../src/core/telemetry/quiet.ts';
import { rawJson } from '../../../src/protocol/byte-string.ts';
import { Payload } from '../../../src/protocol/payload.ts';
import type { BuiltinCall } from '../../../src/router/builtin.ts';
import { EngineInMemory } from '../../support/engine-in-memory.ts';
import type { ReceivedFrame } from '../../support/fake-socket.ts';
import { addTriggerType } from '../../support/module-trigger-type.ts';
import { ALL_TRACES, Observed } from '../../support/observed.ts';

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
    engine.port.fire(type.bindings, Payload.ofText(rawJson({})), quietCause(engine.context.random.token()));
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
  expect(isQuietContext(String(traceparent))).toBe(true);
  expect(observed.span('trigger on_log').parent_span_id).toBeNull();
  worker.invoke('note', {}, { traceparent });
  expect(isQuietContext(calls[0]?.traceparent)).toBe(true);
});

test('[O3] the mark needs no tracing: it is there when nothing is sampled or observed', () => {
  for (const sampling of ['off', { ...ALL_TRACES, defaultRate: 0 }] as const) {
    const { engine, fire, next } = engineWithLogTrigger();
    if (sampling !== 'off') new Observed(engine, { sampling });
    fire();
    expect(next().traceparent).toMatch(/^00-106c0de5[\da-f]{24}-[\da-f]{16}-00$/);
  }
});

test('[O3] [fault 45] calls that a handler makes without any context are marked while it runs, and not afterwards', () => {
  const { worker, calls, fire, next } = engineWithLogTrigger();
  fire();
  const running = next();
  worker.invoke('note');
  worker.result(running, null);
  worker.invoke('note');
  expect(calls.map(({ traceparent }) => isQuietContext(traceparent))).toEqual([true, false]);
});

test('[O3] a record with a marked trace is quiet; any other is not', () => {
  const { engine } = engineWithLogTrigger();
  const observed = new Observed(engine);
  const record = {
    timestamp_unix_nano: 1,
    observed_timestamp_unix_nano: 1,
    severity_number: 9,
    severity_text: 'INFO',
    body: 'hello',
    attributes: {},
    span_id: null,
    resource: {},
    service_name: 'test',
  } as const;
  observed.collector.log({ ...record, trace_id: '106c0de5'.padEnd(32, '1') });
  observed.collector.log({ ...record, trace_id: 'a'.repeat(32) });
  observed.collector.log({ ...record, trace_id: null });
  expect(observed.logs().map(({ is_quiet }) => is_quiet)).toEqual([true, undefined, undefined]);
});
