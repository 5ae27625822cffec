// When a reserved name was used last.

import { expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

test('the names of a worker count as used until it leaves', () => {
  const engine = new EngineInMemory();
  const [old, young] = [engine.connect(), engine.connect()];
  old.register('old');
  young.register('young');
  old.drop();
  expect([...engine.context.reservations.all()].map(({ name }) => name)).toEqual(['young', 'old']);
});
