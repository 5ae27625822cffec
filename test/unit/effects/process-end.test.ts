import { afterEach, expect, test, vi } from 'vitest';
import { endProcess } from '../../../src/effects/process-end.ts';
import { createOwnThread, createPool } from '../../../src/effects/threads/pool.ts';

/** Node aborts a process that ends while one of its threads loads. */
function spyOnExit() {
  return vi.spyOn(process, 'exit').mockImplementation((() => {}) as () => never);
}

afterEach(() => vi.restoreAllMocks());

test('[G1] a process ends at once, with its exit code, if no thread is loading', () => {
  const exit = spyOnExit();
  endProcess(3);
  expect(exit).toHaveBeenCalledWith(3);
});

test('[G1] a process ends only when a thread of its own that was just started is loaded', async () => {
  const exit = spyOnExit();
  const thread = createOwnThread<{ inputs: readonly never[]; nowMs: number }, unknown>('alerts');
  endProcess(3);
  expect(exit).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(3), 10_000);
  await thread.close();
});

test('[G1] a process ends only when a thread of the pool has done its first task', async () => {
  const exit = spyOnExit();
  const pool = createPool(1);
  let isDone = false;
  const task = pool.evaluateAlerts([], 0).then(() => {
    isDone = true;
  });
  exit.mockImplementation((() => expect(isDone).toBe(true)) as () => never);
  endProcess(3);
  expect(exit).not.toHaveBeenCalled();
  await task;
  await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(3), 10_000);
  await pool.close();
});
