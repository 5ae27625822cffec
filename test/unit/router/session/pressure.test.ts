import { describe, expect, test } from 'vitest';
import type { PressureReading } from '../../../../src/core/limits/pressure.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { openRestricted } from '../../../support/engine/restricted-port.ts';

const CALM: PressureReading = { event_loop_delay_ms: 0, heap_share: 0, outbound_share: 0, commit_queue: 0 };
const EXPOSED = { rbac: { expose_functions: ['match("api::*")', 'match("engine::health::*")'] } };

function press(engine: EngineInMemory, reading: Partial<PressureReading>): void {
  engine.context.pressure.take({ ...CALM, ...reading }, engine.clock.monotonicMs());
}

describe('an engine that sheds load', () => {
  test('[L1] drops some fire-and-forget calls, and counts them', () => {
    const engine = new EngineInMemory();
    const [caller, worker] = [engine.connect(), engine.connect()];
    worker.register('f');
    press(engine, { event_loop_delay_ms: 300 });
    for (let call = 0; call < 10; call++) caller.invokeVoid('f');
    expect(worker.received('invokefunction')).toHaveLength(5);
    expect(engine.count('invocations.void_dropped', 'OVERLOADED')).toBe(5);
    engine.advance(6_000);
    press(engine, {});
    caller.invokeVoid('f');
    expect(worker.received('invokefunction')).toHaveLength(1);
  });

  test('[L1] refuses some calls of browsers, and accepts all calls of trusted workers', async () => {
    const { engine, backend, browser } = await openRestricted(EXPOSED);
    backend.register('api::add');
    const page = await browser();
    const other = engine.connect();
    press(engine, { heap_share: 0.9 });
    expect(page.errorCodeOf(page.invoke('api::add'))).toBe('OVERLOADED');
    const id = other.invoke('api::add');
    backend.result(backend.nextCall(), 3);
    expect(other.answerTo(id)).toMatchObject({ result: 3 });
  });

  test('[L1] refuses no call of browsers while it is busy', async () => {
    const { engine, backend, browser } = await openRestricted(EXPOSED);
    backend.register('api::add');
    const page = await browser();
    press(engine, { event_loop_delay_ms: 100 });
    const id = page.invoke('api::add');
    backend.result(backend.nextCall(), 3);
    expect(page.answerTo(id)).toMatchObject({ result: 3 });
  });

  test('[L3] passes on results of accepted calls, answers pings and reports its health', async () => {
    const { engine, backend, browser } = await openRestricted(EXPOSED);
    backend.register('api::add');
    const page = await browser();
    const id = page.invoke('api::add');
    const call = backend.nextCall();
    press(engine, { event_loop_delay_ms: 2_000 });
    backend.result(call, 3);
    expect(page.answerTo(id)).toMatchObject({ result: 3 });
    page.received();
    page.send({ type: 'ping' });
    expect(page.received('pong')).toHaveLength(1);
    const health = page.answerTo(page.invoke('engine::health::check'));
    expect(health).toMatchObject({
      result: {
        status: 'unhealthy',
        components: {
          router: {
            status: 'unhealthy',
            details: { pressure: { level: 'protect', cause: { quantity: 'event_loop_delay_ms', value: 2_000 } } },
          },
        },
      },
    });
  });
});

test('[L1] under the highest pressure idle connections are closed, and active ones stay', async () => {
  const { engine, backend, browser } = await openRestricted(EXPOSED);
  backend.register('api::add');
  const [idle, working] = [await browser(), await browser()];
  working.invoke('api::add');
  press(engine, { heap_share: 0.97 });
  engine.advance(1_000);
  expect(idle.socket.farewell).toMatchObject({ reason: 'nothing was registered or called in time' });
  expect(working.socket.farewell).toBeUndefined();
});
