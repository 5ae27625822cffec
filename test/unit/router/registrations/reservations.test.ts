// How long a name counts as used.

import { expect, test } from 'vitest';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

test('a worker that was connected for long leaves its names as the newest ones', () => {
  const engine = new EngineInMemory();
  const [old, young] = [engine.connect(), engine.connect()];
  old.register('old');
  young.register('young');
  old.drop();
  expect([...engine.context.reservations.all()].map(({ name }) => name)).toEqual(['young', 'old']);
});
