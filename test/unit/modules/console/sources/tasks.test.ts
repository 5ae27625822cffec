// Bulk tasks of the console.

import { expect, test } from 'vitest';
import { type Step, Tasks, type Work } from '../../../../../src/modules/console/sources/tasks.ts';
import { waitFor } from '../../../../support/wait-for.ts';

test('a task runs its steps in order, many at the same time, and counts them', async () => {
  const begun: number[] = [];
  let running = 0;
  let mostRunning = 0;
  const { tasks, ended } = started(1_000, async (step) => {
    begun.push(step);
    mostRunning = Math.max(mostRunning, ++running);
    await Promise.resolve();
    running--;
    return step % 10 === 0 ? 'skipped' : 'done';
  });
  await ended;
  expect(tasks.get('task-1')).toMatchObject({ state: 'done', total: 1_000, done: 900, skipped: 100, failed: 0 });
  expect(begun).toEqual(Array.from({ length: 1_000 }, (_, step) => step));
  expect(mostRunning).toBeGreaterThan(10);
  expect(mostRunning).toBeLessThan(1_000);
});

test('a cancelled task starts no more steps', async () => {
  let begun = 0;
  const { tasks, ended } = started(1_000, async () => {
    if (++begun === 1) tasks.cancel('task-1');
    return 'done';
  });
  await ended;
  const { state, done } = tasks.get('task-1');
  expect(state).toBe('cancelled');
  expect(done).toBeLessThan(1_000);
  expect(begun).toBe(done);
});

function started(total: number, run: (step: number) => ReturnType<Step>) {
  const tasks = new Tasks({ random: { uuid: () => 'task-1' }, router: { nowMs: 1 } });
  let taken = 0;
  const work: Work = {
    kind: 'redrive',
    subject: 'mail',
    total,
    async next(count) {
      const first = taken;
      taken = Math.min(total, taken + count);
      return Array.from({ length: taken - first }, (_, place) => () => run(first + place));
    },
  };
  tasks.start(work);
  const ended = waitFor('the task has ended', async () => {
    const { state, done } = tasks.get('task-1');
    return state !== 'running' && done > 0 ? true : undefined;
  });
  return { tasks, ended };
}
