import { expect, test } from 'vitest';
import { createOwnThread } from '../../../src/effects/threads/pool.ts';

test('[PD-19] a thread of its own runs its tasks in the order in which they were given, however many wait', async () => {
  const thread = createOwnThread<{ inputs: readonly never[]; nowMs: number }, unknown>('alerts', true);
  const given = Array.from({ length: 40 }, (_, task) => task);
  const ran: number[] = [];
  await Promise.all(
    given.map(async (task) => {
      await thread.run({ inputs: [], nowMs: task });
      ran.push(task);
    }),
  );
  await thread.close();
  expect(ran).toEqual(given);
});
