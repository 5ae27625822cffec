import { expect, test } from 'vitest';
import { EngineInMemory } from '../../../../support/engine/engine-in-memory.ts';
import { Observed } from '../../../../support/telemetry/observed.ts';

test('Closed connections are remembered up to a limit while the telemetry thread accepts nothing', () => {
  const engine = new EngineInMemory();
  const observed = new Observed(engine);
  observed.isFull = true;
  for (let source = 1; source <= 70_000; source++) observed.collector.sourceLeft(source);
  observed.isFull = false;
  observed.collector.flush();
  expect(observed.batches.flatMap(({ goneSources }) => goneSources).length).toBe(65_536);
  expect(observed.drops.length).toBe(70_000 - 65_536);
});
