import { expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import type { ReceivedFrame } from '../../../support/fakes/fake-socket.ts';

test('[I8] A handler of engine::workers-available that identifies itself again is stopped at depth 64', () => {
  const engine = new EngineInMemory();
  const worker = engine.connect();
  worker.register('own::on-worker');
  worker.bind('t', 'engine::workers-available', 'own::on-worker');
  worker.received();
  worker.announce({ name: 'loop' });
  let rounds = 0;
  for (let calls = callsOf(worker.received()); calls.length > 0; calls = callsOf(worker.received())) {
    rounds++;
    expect(rounds).toBeLessThan(100);
    for (const call of calls) {
      worker.invokeVoid('engine::workers::register', { name: 'loop' }, { baggage: call.baggage });
      worker.result(call);
    }
  }
  expect(rounds).toBeGreaterThan(10);
});

function callsOf(frames: readonly ReceivedFrame[]): ReceivedFrame[] {
  return frames.filter((frame) => frame.type === 'invokefunction');
}
