import { expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { faultLine } from '../../../support/load/fault-line.ts';

test('[fault 53] [W1] An engine that was suspended for a minute closes no connection', () => {
  const line = faultLine('53', 'suspended for a minute', 'dead=0');
  const engine = new EngineInMemory();
  const worker = engine.connect();
  engine.advance(5_000);
  engine.clock.stall(60_000);
  engine.advance(1_000);
  line.figure = `dead=${worker.socket.isOpen ? 0 : 1}`;
  expect(worker.socket.isOpen).toBe(true);
  engine.advance(26_000);
  expect(worker.socket.isOpen).toBe(false);
});
