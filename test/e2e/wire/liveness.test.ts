// Workers that die, fall silent or stop reading: the engine notices, answers their callers, and spares all others.

import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { HealthyPair } from '../../support/load/healthy-pair.ts';
import { waitFor } from '../../support/wait-for.ts';

const SILENCE_MS_MAX = 25_000;
const PING_INTERVAL_MS = 10_000;

describe('a connection that falls silent', () => {
  test('[W1] is closed after 25 s, its functions leave, and its callers get an error', async () => {
    const clock = new TurningClock();
    await using engine = await startTestEngine({ clock });
    await using silent = await RawWorker.connect(engine.url, { pongs: false });
    await using caller = await RawWorker.connect(engine.url);
    await silent.register('slow::one');
    const id = caller.startCall('slow::one');
    await silent.next('invokefunction');
    await advance(clock, SILENCE_MS_MAX - 2_000, [caller]);
    expect((await caller.call('engine::functions::info', { function_id: 'slow::one' })).result).toBeDefined();
    await advance(clock, 2_000, [caller]);
    expect(await caller.answerTo(id)).toMatchObject({ error: { code: 'invocation_stopped' } });
    expect(await silent.closed).toMatchObject({ code: 1006 });
    expect(await caller.call('slow::one')).toMatchObject({ error: { code: 'function_not_found' } });
    await expectCount(engine, 1, 'connections.closed', 'silent');
    expect(engine.log.join('\n')).toContain('A handler that blocks its event loop does this');
  });

  test('[W1] stays open when it only answers pings', async () => {
    const clock = new TurningClock();
    await using engine = await startTestEngine({ clock });
    await using quiet = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    for (let round = 0; round < 12; round++) {
      const pinged = once(quiet.socket, 'ping');
      await advance(clock, PING_INTERVAL_MS, [caller]);
      await pinged;
    }
    await quiet.settled();
    expect(engine.counters.get('connections.closed', 'silent')).toBe(0);
  });

  test('[W1] stays open when it sends frames and answers no pings', async () => {
    const clock = new TurningClock();
    await using engine = await startTestEngine({ clock });
    await using talker = await RawWorker.connect(engine.url, { pongs: false });
    await advance(clock, 4 * SILENCE_MS_MAX, [talker]);
    await talker.settled();
    expect(engine.counters.get('connections.closed', 'silent')).toBe(0);
  });

  test('[W1] is pinged and closed as well when it only sends telemetry', async () => {
    const clock = new TurningClock();
    await using engine = await startTestEngine({ clock });
    await using quiet = await RawWorker.open(engine.url, { path: '/otel' });
    await using silent = await RawWorker.open(engine.url, { path: '/otel', pongs: false });
    await using caller = await RawWorker.connect(engine.url);
    for (let round = 0; round < 3; round++) {
      const pinged = once(quiet.socket, 'ping');
      await advance(clock, PING_INTERVAL_MS, [caller]);
      await pinged;
    }
    expect(await silent.closed).toMatchObject({ code: 1006 });
    expect(quiet.socket.readyState).toBe(quiet.socket.OPEN);
    await expectCount(engine, 1, 'connections.closed', 'silent_telemetry');
  });
});

test('[I3] the deadline of the engine never comes before that of a client that keeps its own', async () => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
  const clock = new TurningClock();
  await using engine = await startTestEngine({ clock });
  await using worker = new IiiClient(engine.url);
  await using caller = new IiiClient(engine.url);
  let finish: (answer: string) => void = () => {};
  const started = vi.fn();
  worker.sdk.registerFunction('slow::one', () => {
    started();
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  worker.sdk.registerFunction('quick::one', async () => 'quick');
  await worker.ready();
  const slow = caller.call('slow::one', {});
  await waitFor('the handler runs', () => started.mock.calls.length === 1);
  for (let step = 0; step < 30; step++) {
    clock.advance(20_000);
    // Both send something before the engine considers them dead.
    expect(await caller.call('quick::one', {})).toBe('quick');
  }
  finish('after ten minutes');
  // Leaps of time let the engine's own requests to its threads expire; only the client's call counts here.
  expect(await slow).toBe('after ten minutes');
});

describe('a worker process', () => {
  test('[I4] that is killed during a call leaves its caller with invocation_stopped, at once', async () => {
    await using engine = await startTestEngine();
    await using worker = await WorkerProcess.start(engine.url, 'slow::one', 'hangs');
    await using caller = await RawWorker.connect(engine.url);
    const id = caller.startCall('slow::one');
    await worker.says('called');
    const startMs = performance.now();
    worker.kill('SIGKILL');
    expect(await caller.answerTo(id)).toMatchObject({
      error: { code: 'invocation_stopped', message: expect.stringContaining('whether it took effect is unknown') },
    });
    expect(performance.now() - startMs).toBeLessThan(1_000);
    expect(await caller.call('slow::one')).toMatchObject({ error: { code: 'function_not_found' } });
  });

  test('[I7] [V1] that stops reading delays no other; calls over its limit are dropped and counted', async () => {
    const yaml = withLimits('outbound_buffer_bytes: 1048576, in_flight_per_worker: 100000');
    await using engine = await startTestEngine({ yaml });
    await using stuck = await WorkerProcess.start(engine.url, 'stuck::one', 'answers');
    await using pair = await HealthyPair.start(engine.url);
    await using flooder = await RawWorker.connect(engine.url);
    stuck.kill('SIGSTOP');
    flood(flooder, 'stuck::one', 5_000);
    const answered = await pair.callUntil(flooder.settled());
    expect(answered).toBeGreaterThan(0);
    // Other routers report what they have counted a moment later.
    const dropped = () => engine.counters.get('invocations.void_dropped', 'OVERLOADED');
    await waitFor('more than 1000 were dropped', () => dropped() > 1_000);
    // A call with a waiting caller is answered with an error instead. It is as large as the others: a small one may
    // still find room.
    const refused = await flooder.call('stuck::one', 'x'.repeat(FLOOD_BYTES));
    expect(refused).toMatchObject({ error: { code: 'OVERLOADED' } });
    stuck.kill('SIGCONT');
    const result = await waitFor('the worker has caught up', async () => (await flooder.call('stuck::one')).result);
    // It got every call that was not dropped, and none twice.
    await waitFor(`${result} calls were not dropped`, () => result === 5_000 - dropped() + 1);
    expect(dropped()).toBeLessThan(5_000);
  });

  test('[I7] that stops reading is closed at its limit, and the others continue', async () => {
    const yaml = withLimits(
      'outbound_buffer_bytes: 1048576, outbound_close_bytes: 1048576, in_flight_per_worker: 100000',
    );
    // Calls from another router come in small batches, so the limit for new calls is reached first.
    await using engine = await startTestEngine({ yaml, threads: 1 });
    await using stuck = await WorkerProcess.start(engine.url, 'stuck::one', 'answers');
    await using pair = await HealthyPair.start(engine.url);
    await using flooder = await RawWorker.connect(engine.url);
    stuck.kill('SIGSTOP');
    flood(flooder, 'stuck::one', 5_000);
    expect(await pair.callUntil(flooder.settled())).toBeGreaterThan(0);
    await waitFor('it was closed', () => engine.counters.get('connections.closed', 'too_slow') === 1);
    await waitFor(
      'calls were dropped',
      () => engine.counters.get('invocations.void_dropped', 'function_not_found') > 0,
    );
    expect(engine.log.join('\n')).toContain('the worker does not read what it is sent');
    expect(await flooder.call('stuck::one')).toMatchObject({ error: { code: 'function_not_found' } });
    stuck.kill('SIGCONT');
    expect(await stuck.says('closed')).toBe('closed 4408');
  });

  test('[I7] at the limit of the whole engine the connection with the most unread bytes is closed first', async () => {
    const limits = '{engine: {outbound_buffers_bytes: 1048576}, trusted: {in_flight_per_worker: 100000}}';
    const yaml = `drain_timeout_ms: 100\nlimits: ${limits}\n${ONE_PORT}`;
    await using engine = await startTestEngine({ yaml });
    await using stuck = await WorkerProcess.start(engine.url, 'stuck::one', 'answers');
    await using pair = await HealthyPair.start(engine.url);
    await using flooder = await RawWorker.connect(engine.url);
    stuck.kill('SIGSTOP');
    flood(flooder, 'stuck::one', 2_000);
    const closed = waitFor('it is closed', () => engine.counters.get('connections.closed', 'too_slow') === 1);
    expect(await pair.callUntil(closed)).toBeGreaterThan(0);
    expect(await flooder.call('stuck::one')).toMatchObject({ error: { code: 'function_not_found' } });
  });
});

function withLimits(trusted: string): string {
  return `drain_timeout_ms: 100\nlimits: {trusted: {${trusted}}}\n${ONE_PORT}`;
}

/** Advances fake time in small steps, while the talkers send and pongs have time to arrive. */
async function advance(clock: TurningClock, ms: number, talkers: readonly RawWorker[]): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 5_000) {
    clock.advance(Math.min(5_000, ms - passedMs));
    for (const talker of talkers) await talker.settled();
  }
}

const FLOOD_BYTES = 8 * 1024;

function flood(worker: RawWorker, functionId: string, count: number): void {
  const data = 'x'.repeat(FLOOD_BYTES);
  for (let call = 0; call < count; call++) {
    worker.send({ type: 'invokefunction', function_id: functionId, data, action: { type: 'void' } });
  }
}
