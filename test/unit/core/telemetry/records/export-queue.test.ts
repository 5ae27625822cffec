import { describe, expect, test } from 'vitest';
import { ExportQueue, retryDelayMs } from '../../../../../src/core/telemetry/records/export-queue.ts';

const LIMITS = { items: 5, bytes: 100, batch: 2 };

function filled(count: number, bytes = 1): ExportQueue<number> {
  const queue = new ExportQueue<number>(LIMITS);
  for (let item = 1; item <= count; item += 1) queue.push(item, bytes);
  return queue;
}

describe('an export queue', () => {
  test('[O2] refuses the newest when it is full', () => {
    const queue = filled(5);
    expect(queue.push(6, 1)).toBe(false);
    expect(queue.length).toBe(5);
    expect(queue.take()).toEqual([1, 2]);
  });

  test('[O1] has a limit of bytes', () => {
    const queue = filled(3, 40);
    expect(queue.length).toBe(2);
    expect(queue.bytes).toBe(80);
    expect(queue.push(9, 20)).toBe(true);
  });

  test('[O2] hands out one batch at a time, the oldest first', () => {
    const queue = filled(3);
    expect(queue.hasBatch).toBe(true);
    expect(queue.take()).toEqual([1, 2]);
    expect(queue.hasBatch).toBe(false);
    expect(() => queue.take()).toThrow('not settled');
    queue.settle('gone');
    expect(queue.take()).toEqual([3]);
  });

  test('[O2] counts a batch that is being sent until it has arrived', () => {
    const queue = filled(5);
    queue.take();
    expect(queue.push(6, 1)).toBe(false);
    queue.settle('gone');
    expect(queue.bytes).toBe(3);
    expect(queue.push(6, 1)).toBe(true);
    expect(queue.take()).toEqual([3, 4]);
  });

  test('[O2] hands out a batch again if it could not be sent', () => {
    const queue = filled(3);
    queue.take();
    queue.settle('again');
    expect(queue.take()).toEqual([1, 2]);
  });

  test('reports how many items it drops', () => {
    const queue = filled(4);
    queue.take();
    expect(queue.clear()).toBe(4);
    expect([queue.length, queue.bytes]).toEqual([0, 0]);
    expect(queue.take()).toEqual([]);
  });

  test('waits longer after each failure of the collector', () => {
    expect([1, 2, 3, 6, 50].map(retryDelayMs)).toEqual([1_000, 2_000, 4_000, 30_000, 30_000]);
  });
});
