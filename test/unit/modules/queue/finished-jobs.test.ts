import { expect, test } from 'vitest';
import { FinishedJobs } from '../../../../src/modules/queue/finished-jobs.ts';

const MIB = 1024 * 1024;

function finished(id: number, progress?: unknown) {
  const facts = { queue: 'work', function_id: 'f', state: 'done', attempt: 1, enqueued_at: 0, size_bytes: 2 } as const;
  return { messageReceiptId: `job ${id}`, ...facts, finished_at: 1, ...(progress !== undefined && { progress }) };
}

function foundOf(jobs: FinishedJobs, count: number): number[] {
  return Array.from({ length: count }, (_, id) => id).filter((id) => jobs.find(`job ${id}`, 1) !== undefined);
}

test('At least the last 10 000 jobs are found, and never more than 20 000', () => {
  const jobs = new FinishedJobs();
  for (let id = 0; id < 45_000; id++) jobs.add(finished(id));
  const found = foundOf(jobs, 45_000);
  expect([found.length, found[0], found.at(-1)]).toEqual([15_000, 30_000, 44_999]);
  for (let id = 45_000; id < 50_001; id++) jobs.add(finished(id));
  expect(foundOf(jobs, 50_001)[0]).toBe(40_000);
  expect([...jobs.ids()].length).toBe(10_001);
});

test('Fewer jobs are kept after large progress reports, and 10 000 or more again later', () => {
  const jobs = new FinishedJobs();
  for (let id = 0; id < 200; id++) jobs.add(finished(id, 'x'.repeat(MIB / 2)));
  const found = foundOf(jobs, 200);
  expect(found.length).toBeGreaterThan(30);
  expect(found.length).toBeLessThanOrEqual(64);
  expect(found.at(-1)).toBe(199);
  for (let id = 200; id < 20_300; id++) jobs.add(finished(id));
  expect(foundOf(jobs, 20_300).length).toBeGreaterThanOrEqual(10_000);
});
