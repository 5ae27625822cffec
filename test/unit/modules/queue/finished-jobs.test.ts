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

test('At least the last 10 000 jobs are found, and never as many as 20 000', () => {
  const jobs = new FinishedJobs();
  for (let id = 0; id < 25_000; id++) {
    jobs.add(finished(id));
    if (id % 1_000 === 999) expect([...jobs.ids()].length).toBeLessThan(20_000);
  }
  const found = foundOf(jobs, 25_000);
  expect(found.length).toBeGreaterThanOrEqual(10_000);
  expect(found).toEqual(Array.from(found, (_, index) => 25_000 - found.length + index));
});

test('Fewer jobs are kept after large progress reports, and 10 000 or more again later', () => {
  const jobs = new FinishedJobs();
  for (let id = 0; id < 200; id++) jobs.add(finished(id, 'x'.repeat(MIB / 2)));
  const found = foundOf(jobs, 200);
  expect(found.length).toBeGreaterThan(60);
  expect(found.length).toBeLessThanOrEqual(64);
  expect(found.at(-1)).toBe(199);
  for (let id = 200; id < 10_300; id++) jobs.add(finished(id));
  expect(foundOf(jobs, 10_300).length).toBeGreaterThanOrEqual(10_000);
});
