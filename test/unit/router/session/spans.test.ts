// Spans of calls and of what triggers call, as the router makes them (modules 11.4, PD-31).

import { expect, test } from 'vitest';
import { UNTRACED } from '../../../../src/core/telemetry/spans/context.ts';
import { isWithin } from '../../../../src/core/telemetry/spans/sampling.ts';
import { OpenSpan } from '../../../../src/core/telemetry/spans/span-rows.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';
import { ALL_TRACES, Observed } from '../../../support/telemetry/observed.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`;

function observedPair(settings = {}) {
  const engine = new EngineInMemory();
  const observed = new Observed(engine, settings);
  const caller = engine.connect();
  const worker = engine.connect();
  worker.register('math::add');
  return { engine, observed, caller, worker };
}

test('[PD-31] a sampled call gets a span, whose id is passed on in traceparent', () => {
  const { engine, observed, caller, worker } = observedPair();
  const call = caller.invoke('math::add', {}, { traceparent: SAMPLED, baggage: 'user=ann,api_key=k1' });
  const handed = worker.nextCall();
  engine.advance(20);
  worker.result(handed, 3);
  expect(caller.answerTo(call)).toMatchObject({ result: 3 });
  const span = observed.span('call math::add');
  expect(handed.traceparent).toBe(`00-${TRACE}-${span.span_id}-01`);
  expect(span).toMatchObject({ trace_id: TRACE, parent_span_id: PARENT, status: 'ok', service_name: 'svc' });
  expect(span.end_time_unix_nano - span.start_time_unix_nano).toBe(20e6);
  expect(span.attributes).toEqual(
    expect.arrayContaining([
      ['function_id', 'math::add'],
      ['faas.invoked_name', 'math::add'],
      ['svc.function.kind', 'user'],
      ['baggage.user', 'ann'],
      ['baggage.api_key', '[redacted]'],
    ]),
  );
  expect(span).not.toHaveProperty('pending');
});

test('[PD-31] a context that is not sampled is passed on unchanged and gets no span', () => {
  const { observed, caller, worker } = observedPair();
  caller.invoke('math::add', {}, { traceparent: UNSAMPLED });
  expect(worker.nextCall().traceparent).toBe(UNSAMPLED);
  expect(observed.spans()).toEqual([]);
});

test('a call without a context starts a trace', () => {
  const { observed, caller, worker } = observedPair();
  caller.invoke('math::add');
  const { traceparent } = worker.nextCall();
  const span = observed.span('call math::add');
  expect(span.parent_span_id).toBeNull();
  expect(traceparent).toBe(`00-${span.trace_id}-${span.span_id}-01`);
});

test('a trace that is not kept stays so in all its calls', () => {
  const { observed, caller, worker } = observedPair({ sampling: { ...ALL_TRACES, defaultRate: 1e-9 } });
  caller.invoke('math::add');
  expect(worker.nextCall().traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
  expect(observed.spans()).toEqual([]);
});

test('a call without a context gets a trace id only if its trace is kept', () => {
  const { observed } = observedPair({ sampling: { ...ALL_TRACES, defaultRate: 0.25 } });
  const begun = Array.from({ length: 400 }, () => observed.collector.beginOrUntraced('', 'f', 'f', '', undefined, ''));
  const kept = begun.filter((one) => one instanceof OpenSpan);
  expect(Math.abs(kept.length / begun.length - 0.25)).toBeLessThan(0.08);
  expect(new Set(kept.map(({ traceId }) => traceId)).size).toBe(kept.length);
  for (const { traceId } of kept) expect(isWithin(traceId, 0.25)).toBe(true);
  expect(new Set(begun.filter((one) => !(one instanceof OpenSpan)))).toEqual(new Set([UNTRACED]));
});

test('a call that needs no id keeps the one that it has', () => {
  const { observed } = observedPair({ sampling: { ...ALL_TRACES, defaultRate: 1e-9 } });
  const begin = (context: string) => observed.collector.beginOrUntraced('', 'f', 'f', '', context, undefined);
  expect(begin(UNSAMPLED)).toBeUndefined();
  expect(begin(SAMPLED)).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
});

test('at ratio 0 calls without a context get none', () => {
  const { observed, caller, worker } = observedPair({ sampling: { ...ALL_TRACES, defaultRate: 0 } });
  caller.invoke('math::add');
  expect(worker.nextCall()).not.toHaveProperty('traceparent');
  expect(observed.spans()).toEqual([]);
});

test('a call that fails is an error with its exception', () => {
  const { observed, caller, worker } = observedPair();
  caller.invoke('math::add');
  worker.fail(worker.nextCall(), { code: 'OVERFLOW', message: 'too much', stacktrace: 'at add' });
  const span = observed.span('call math::add');
  expect(span).toMatchObject({ status: 'error', status_description: 'OVERFLOW: too much' });
  expect(span.events).toEqual([
    {
      name: 'exception',
      timestamp_unix_nano: span.end_time_unix_nano,
      attributes: [
        ['exception.type', 'OVERFLOW'],
        ['exception.message', 'too much'],
        ['exception.stacktrace', 'at add'],
      ],
    },
  ]);
});

test('a call of a function that no worker offers is an error of its trace', () => {
  const { observed, caller } = observedPair();
  caller.invoke('missing::has', {}, { traceparent: SAMPLED });
  expect(observed.span('call missing::has')).toMatchObject({ status: 'error', parent_span_id: PARENT });
});

test('a running call is pending, and a lost worker ends its span as an error', () => {
  const { engine, observed, caller, worker } = observedPair();
  caller.invoke('math::add');
  engine.advance(60);
  expect(observed.span('call math::add')).toMatchObject({ pending: true, end_time_unix_nano: 0, status: 'unset' });
  worker.drop();
  const span = observed.span('call math::add');
  expect(span).toMatchObject({ status: 'error' });
  expect(span.status_description).toMatch(/^invocation_stopped/);
  expect(span).not.toHaveProperty('pending');
});

test('functions of the engine are internal, and those that read traces get no span', () => {
  const { observed, caller } = observedPair();
  caller.ask('engine::functions::list');
  caller.invoke('engine::traces::list');
  expect(observed.spans().map(({ name }) => name)).toEqual(['call engine::functions::list']);
  expect(observed.attribute('call engine::functions::list', 'svc.function.kind')).toBe('internal');
});

test('calls that manage project workers are internal and not counted, and reading ones get no span', () => {
  const { observed, caller, worker } = observedPair();
  for (const verb of ['list', 'status', 'logs', 'restart']) {
    worker.register(`worker::${verb}`);
    caller.invoke(`worker::${verb}`);
    worker.result(worker.nextCall(), null);
  }
  expect(observed.spans().map(({ name }) => name)).toEqual(['call worker::restart']);
  expect(observed.attribute('call worker::restart', 'svc.function.kind')).toBe('internal');
  expect(observed.calls()).toEqual([]);
});

test('a firing is a span in the trace of its cause, with the call as its child', () => {
  const { engine, observed, worker } = observedPair();
  const type = addTriggerType(engine, 'tick');
  worker.bind('t', 'tick', 'math::add');
  engine.port.fire(type.bindings, Payload.ofText(rawJson({})), { depth: 3, traceparent: SAMPLED, baggage: 'user=ann' });
  const handed = worker.received().find((frame) => frame.type === 'invokefunction');
  const firing = observed.span('trigger math::add');
  const call = observed.span('call math::add');
  expect(firing).toMatchObject({ trace_id: TRACE, parent_span_id: PARENT, pending: true });
  expect(call.parent_span_id).toBe(firing.span_id);
  expect(handed?.traceparent).toBe(`00-${TRACE}-${call.span_id}-01`);
  expect(handed?.baggage).toContain('user=ann');
  expect(observed.attribute('trigger math::add', 'trigger.type')).toBe('tick');
});

test('[PD-45] calls count as ok or error, and fire-and-forget calls once as deferred', () => {
  const { engine, observed, caller, worker } = observedPair();
  for (const answer of ['ok', 'error', 'void'] as const) {
    if (answer === 'void') caller.invokeVoid('math::add');
    else caller.invoke('math::add');
    engine.advance(3);
    const call = worker.nextCall();
    if (answer === 'error') worker.fail(call, { code: 'OVERFLOW', message: '' });
    else worker.result(call, 1);
  }
  caller.ask('engine::functions::list');
  const [counts, ...others] = observed.calls();
  expect(others).toEqual([]);
  expect(counts).toMatchObject({ functionId: 'math::add', ok: 1, error: 1, deferred: 1, errors: { OVERFLOW: 1 } });
  expect(counts?.okDurations).toMatchObject({ count: 1, sum: 3, min: 3, max: 3 });
});

test('[PD-45] calls are counted without sampling', () => {
  const { observed, caller, worker } = observedPair({ sampling: undefined });
  caller.invoke('math::add', {}, { traceparent: SAMPLED });
  const call = worker.nextCall();
  expect(call.traceparent).toBe(SAMPLED);
  worker.result(call, 1);
  expect(observed.calls()).toMatchObject([{ functionId: 'math::add', ok: 1 }]);
});

test('[PD-46] functions over the limit of label sets are counted as one', () => {
  const engine = new EngineInMemory();
  const observed = new Observed(engine);
  for (let number = 0; number < 2_500; number++) observed.collector.callEnded(`f${number}`, 1, undefined);
  const calls = observed.calls();
  expect(calls).toHaveLength(2_001);
  expect(calls.find(({ functionId }) => functionId === 'other')).toMatchObject({ ok: 500 });
});

test('workers are counted when they identify themselves as workers, and when they leave', () => {
  const { engine, observed, worker } = observedPair();
  expect(observed.workers()).toEqual({ spawns: 1, deaths: 0 });
  worker.register('math::sub');
  worker.drop();
  engine.connect().drop();
  expect(observed.workers()).toEqual({ spawns: 1, deaths: 1 });
});

test('[O1] while the telemetry thread accepts nothing, spans are limited, and dropped ones are counted', () => {
  const { observed, caller, worker } = observedPair();
  observed.isFull = true;
  for (let count = 0; count < 8_200; count++) {
    caller.invoke('math::add');
    worker.result(worker.nextCall(), 1);
  }
  expect(new Set(observed.drops)).toEqual(new Set(['spans buffer_full']));
  expect(observed.drops).toHaveLength(8);
  observed.isFull = false;
  expect(observed.spans()).toHaveLength(8_192);
});

test('a query while the telemetry thread accepts nothing loses no count of a worker', () => {
  const { engine, observed } = observedPair();
  observed.isFull = true;
  observed.collector.flush();
  observed.isFull = false;
  engine.advance(100);
  expect(observed.batches.map(({ workers }) => workers)).toEqual([{ spawns: 1, deaths: 0 }]);
});

test('data of a worker is copied, so that its memory may be reused at once', () => {
  const { observed } = observedPair();
  const memory = Buffer.from('{"resourceLogs":[]}');
  observed.collector.frame('LOGS', 1, memory);
  memory.fill(0);
  observed.collector.flush();
  const [frame] = observed.batches.flatMap(({ frames }) => frames);
  expect(Buffer.from(frame?.bytes ?? []).toString()).toBe('{"resourceLogs":[]}');
});

test('gauges of a process are kept until its connection ends', () => {
  const { observed } = observedPair();
  observed.collector.noteGauges([[7, { cpu_percent: 3, timestamp_ms: 1 }]]);
  expect(observed.collector.gaugesOf(7)).toEqual({ cpu_percent: 3, timestamp_ms: 1 });
  observed.collector.sourceLeft(7);
  expect(observed.collector.gaugesOf(7)).toBeUndefined();
  observed.collector.noteGauges([
    [7, { cpu_percent: 4, timestamp_ms: 2 }],
    [7, null],
  ]);
  expect(observed.collector.gaugesOf(7)).toBeUndefined();
});

test('an idle collector sends nothing and runs no timer', () => {
  const { engine, observed } = observedPair();
  engine.advance(2_000);
  const timers = engine.clock.timerCount;
  const batches = observed.batches.length;
  engine.advance(10_000);
  expect(observed.batches).toHaveLength(batches);
  expect(engine.clock.timerCount).toBe(timers);
});

test('spans are gathered for a while, or until a log record is sent', () => {
  const { engine, observed, caller } = observedPair();
  const untilBatch = (): number => {
    const before = observed.batches.length;
    for (let ms = 1; ms <= 1_000; ms++) {
      engine.advance(1);
      if (observed.batches.length > before) return ms;
    }
    throw new Error('Nothing was sent for a second');
  };
  engine.advance(2_000);
  caller.invoke('math::add', {}, { traceparent: SAMPLED });
  expect(untilBatch()).toBe(250);
  caller.invoke('math::add', {}, { traceparent: SAMPLED });
  engine.advance(100);
  caller.sendBinary(`LOGS${JSON.stringify({ resourceLogs: [] })}`);
  expect(untilBatch()).toBe(50);
});
