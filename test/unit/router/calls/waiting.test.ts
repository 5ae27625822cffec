// Calls that wait in the engine for a worker below its limit.

import { expect, test } from 'vitest';
import { refuseWaitingInDrain } from '../../../../src/router/calls/serve-waiting.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

/** A worker of `f` with one place, which a call takes. */
function occupied(options: ConstructorParameters<typeof EngineInMemory>[0] = {}) {
  const engine = new EngineInMemory(options);
  const [caller, worker] = [engine.connect({ ownSdk: true }), engine.connect({ limits: { inFlightPerWorker: 1 } })];
  worker.register('f');
  caller.invoke('f', 'first', { timeout_ms: 10_000 });
  return { engine, caller, worker, first: worker.nextCall() };
}

/** Answers the call that the worker runs, and returns the data of the call that follows. */
async function nextData(engine: EngineInMemory, worker: TestWorker, call: Parameters<TestWorker['result']>[0]) {
  worker.result(call, 'done');
  await engine.turn();
  const [next] = worker.received('invokefunction');
  return next;
}

test('[L6] a call waits for the worker to have a place, and runs in the same turn in which it has one', async () => {
  const { engine, caller, worker, first } = occupied();
  const id = caller.invoke('f', { x: 1 });
  expect(worker.received()).toEqual([]);
  const second = await nextData(engine, worker, first);
  expect(second?.data).toEqual({ x: 1 });
  if (second !== undefined) worker.result(second, 'served');
  expect(caller.answerTo(id).result).toBe('served');
  expect(engine.count('invocations.waited')).toBe(1);
});

test('[L6] a call that arrives in the turn in which a place became free waits at the end of the line', async () => {
  const { engine, caller, worker, first } = occupied();
  caller.invoke('f', 'waits');
  worker.result(first, 'done');
  const late = caller.invoke('f', 'arrives with the result');
  await engine.turn();
  const second = worker.nextCall();
  const third = await nextData(engine, worker, second);
  if (third !== undefined) worker.result(third, 'served');
  expect([second.data, third?.data]).toEqual(['waits', 'arrives with the result']);
  expect(caller.answerTo(late).result).toBe('served');
});

test('[L6] calls of several connections take turns, so that one with many delays the others by one call each', async () => {
  const { engine, caller, worker, first } = occupied();
  const other = engine.connect();
  for (let at = 0; at < 100; at++) caller.invoke('f', `bulk ${at}`);
  other.invoke('f', 'single');
  const second = await nextData(engine, worker, first);
  const third = second && (await nextData(engine, worker, second));
  expect([second?.data, third?.data]).toEqual(['bulk 0', 'single']);
});

test('[L6] a waiting call has the rest of its time, and ends at its deadline with the reason', async () => {
  const { engine, caller, worker, first } = occupied();
  const short = caller.invoke('f', 'short', { timeout_ms: 1_000 });
  caller.invoke('f', 'long', { timeout_ms: 10_000 });
  engine.advance(2_000);
  expect(caller.answerTo(short).error).toEqual({
    code: 'TIMEOUT',
    message: 'invocation timed out after 1000ms (f: every worker was at its limit of running calls)',
  });
  const sdk = engine.connect({ ownSdk: true });
  sdk.register('f');
  engine.advance(25);
  expect(sdk.nextCall()).toMatchObject({ data: 'long', timeout_ms: 7_975 });
  await nextData(engine, worker, first);
});

test('[L6] what waits keeps its payload, although the memory of its message is used again', async () => {
  const { engine, caller, worker, first } = occupied();
  caller.invoke('f', { text: 'é😀'.repeat(1_000) }, { metadata: { of: 'mine' }, baggage: 'a=b' });
  const second = await nextData(engine, worker, first);
  expect(second).toMatchObject({ data: { text: 'é😀'.repeat(1_000) }, metadata: { of: 'mine' } });
  expect(second?.baggage).toContain('a=b');
});

test('[L6] a worker that connects, or that may run more, takes waiting calls', () => {
  const { engine, caller, worker } = occupied();
  for (let at = 0; at < 3; at++) caller.invoke('f', at);
  const helper = engine.connect({ limits: { inFlightPerWorker: 2 } });
  helper.register('f');
  engine.advance(25);
  expect(helper.received('invokefunction').map(({ data }) => data)).toEqual([0, 1]);
  expect(worker.received()).toEqual([]);
});

test('[L6] a full line refuses with the limit and its setting', () => {
  const { engine, caller } = occupied({ settings: { waiting: { callsMax: 4, bytesMax: 100_000 } } });
  const ids = [1, 2, 3].map((at) => caller.invoke('f', at));
  expect(caller.errorMessageOf(ids[2] ?? '')).toBe(
    'Every worker that offers f is at its limit of running calls or buffered bytes, and 2 calls wait in the engine: ' +
      'limits.engine.waiting_calls allows no more, one caller half',
  );
  const large = engine.connect();
  const refused = large.invoke('f', 'x'.repeat(50_000));
  expect(large.errorMessageOf(refused)).toContain('limits.engine.waiting_bytes');
});

test('[L6] a waiting call ends with its caller, and a fire-and-forget call is carried out', async () => {
  const { engine, caller, worker, first } = occupied();
  const other = engine.connect();
  other.invoke('f', 'waits for an answer');
  other.invokeVoid('f', 'void');
  caller.invoke('f', 'last');
  other.drop();
  const second = await nextData(engine, worker, first);
  const third = second && (await nextData(engine, worker, second));
  expect([second?.data, third?.data]).toEqual(['void', 'last']);
});

test('[L6] a function whose last worker leaves answers its waiting calls', () => {
  const { engine, caller, worker } = occupied();
  const id = caller.invoke('f', 'waits');
  worker.drop();
  engine.advance(25);
  expect(caller.errorCodeOf(id)).toBe('function_not_found');
  expect(engine.context.waiting.size).toBe(0);
});

test('[L6] a waiting call counts towards the limit of its caller, and no longer when it has ended', async () => {
  const { engine, caller, worker, first } = occupied({ limits: { inFlightPerCaller: 2 } });
  caller.invoke('f', 'waits');
  expect(caller.errorMessageOf(caller.invoke('f', 'refused'))).toContain('limit of 2 calls in flight');
  const second = await nextData(engine, worker, first);
  if (second !== undefined) await nextData(engine, worker, second);
  caller.invoke('f', 'again');
  caller.invoke('f', 'and again');
  expect(worker.received('invokefunction')).toHaveLength(1);
});

test('[L6] under pressure no call waits', () => {
  const { engine, caller } = occupied();
  const reading = { event_loop_delay_ms: 300, heap_share: 0, outbound_share: 0, commit_queue: 0 };
  engine.context.pressure.take(reading, engine.clock.monotonicMs());
  expect(caller.errorCodeOf(caller.invoke('f', 'refused'))).toBe('OVERLOADED');
});

test('[L6] [G1] the drain refuses waiting calls that begin a chain', () => {
  const { engine, caller } = occupied();
  const id = caller.invoke('f', 'waits');
  engine.context.isDraining = true;
  refuseWaitingInDrain(engine.context);
  expect(caller.errorCodeOf(id)).toBe('SHUTTING_DOWN');
});

test('[L6] a handler that calls a function of its own worker at its limit runs it in its own place', () => {
  const engine = new EngineInMemory();
  const caller = engine.connect({ ownSdk: true });
  const worker = engine.connect({ ownSdk: true, limits: { inFlightPerWorker: 1 } });
  for (const id of ['outer', 'inner']) worker.register(id);
  const answered = caller.invoke('outer');
  const outer = worker.nextCall();
  const waiting = caller.invoke('outer', 'waits');
  const baggage = String(outer.baggage);
  const innerId = worker.invoke('inner', {}, { baggage });
  engine.advance(50);
  const inner = worker.nextCall();
  expect(inner.function_id).toBe('inner');
  worker.result(inner, 'from within');
  expect(worker.answerTo(innerId).result).toBe('from within');
  worker.received();
  worker.result(outer, 'done');
  engine.advance(50);
  expect(worker.nextCall().data).toBe('waits');
  expect(caller.answerTo(answered).result).toBe('done');
  expect(caller.answersTo(waiting)).toEqual([]);
});

test('[L6] two workers whose handlers wait for each other both continue', () => {
  const engine = new EngineInMemory();
  const caller = engine.connect({ ownSdk: true });
  const workers = ['a', 'b'].map((id) => {
    const worker = engine.connect({ ownSdk: true, limits: { inFlightPerWorker: 1 } });
    worker.register(id);
    return worker;
  });
  const [a, b] = workers;
  if (a === undefined || b === undefined) throw new Error('two workers');
  const ids = ['a', 'b'].map((id) => caller.invoke(id));
  const [ofA, ofB] = [a.nextCall(), b.nextCall()];
  a.invoke('b', 'from a', { baggage: ofA.baggage });
  b.invoke('a', 'from b', { baggage: ofB.baggage });
  engine.advance(50);
  const [innerA, innerB] = [a.nextCall(), b.nextCall()];
  expect([innerA.data, innerB.data]).toEqual(['from b', 'from a']);
  for (const [worker, inner, outer] of [[a, innerA, ofA] as const, [b, innerB, ofB] as const]) {
    worker.result(inner, 1);
    worker.result(outer, 2);
  }
  expect(ids.map((id) => caller.answerTo(id).result)).toEqual([2, 2]);
});
