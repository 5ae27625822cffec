import { describe, expect, test } from 'vitest';
import type { ClaimedJob } from '../../../../../src/core/queue/shapes.ts';
import { retryDelayMs } from '../../../../../src/core/queue/waits.ts';
import { readReceipt } from '../../../../../src/store/commands/queue/receipt.ts';
import { faultLine } from '../../../../support/load/fault-line.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';
import { QueueStore } from '../../../../support/stores/queue-store.ts';

const FIFO = { groupField: 'g' };

function only(jobs: readonly ClaimedJob[]): ClaimedJob {
  expect(jobs).toHaveLength(1);
  const [job] = jobs;
  if (job === undefined) throw new Error('There is no job');
  return job;
}

describe('receipts', () => {
  test('[F3] are UUIDs of version 7 in commit order, even if the clock is set back', () => {
    const store = new QueueStore();
    const receipts = [1, 2, 3].map((n) => {
      store.nowMs -= n * 1_000;
      return store.receipt(n);
    });
    expect([...receipts].sort()).toEqual(receipts);
    for (const receipt of receipts) expect(receipt).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  });

  test('give the state of their job', () => {
    const store = new QueueStore();
    const id = store.receipt({ a: 1 });
    expect(readReceipt(id)).toMatchObject({ seq: 1, queue: 1, atMs: store.nowMs });
    expect(store.ask('queue::job', { id })).toMatchObject({ state: 'waiting', attempt: 0, queue: 'q' });
    expect(readReceipt('no receipt')).toBeUndefined();
  });
});

const HOUR_MS = 3_600_000;

describe('changes of the wall clock', () => {
  test.each([1, -1, 24, -24])('[Q4] [fault 47] of %i h do not make a retry early or late', (hours) => {
    const line = faultLine('47', `backoff with the clock set by ${hours} h`, 'ms off=0');
    const store = new QueueStore();
    store.receipt('job');
    store.settle(only(store.claim()), 'retry', { afterMs: 60_000 });
    store.nowMs += 10_000;
    store.setWallClock(hours * HOUR_MS);
    store.nowMs += 49_999;
    expect(store.claim()).toEqual([]);
    store.nowMs += 1;
    expect(only(store.claim())).toMatchObject({ attempt: 2 });
    line.figure = 'ms off=0';
  });

  test('[Q4] [fault 47] before a restart do not change the rest of a wait', () => {
    const store = new QueueStore();
    store.receipt('job', { delayMs: 60_000 });
    store.setWallClock(-HOUR_MS);
    // Whatever the engine does next reads the clocks.
    store.claim();
    store.restart();
    store.nowMs += 59_999;
    expect(store.claim()).toEqual([]);
    store.nowMs += 1;
    expect(store.claim()).toHaveLength(1);
  });

  test('[Q3] [Q7] make no job expire, and no key forgotten', () => {
    const store = new QueueStore();
    const id = store.receipt('job', { idempotencyKey: 'k' });
    store.settle(only(store.claim()), 'park', { isUnsent: true });
    store.setWallClock(48 * HOUR_MS);
    expect(store.advance({ claim: 1 })).toMatchObject({ jobs: [], died: 0 });
    expect(store.receipt('job', { idempotencyKey: 'k' })).toBe(id);
  });

  test('[Q4] are included in the displayed time at which a job is due', () => {
    const store = new QueueStore();
    const id = store.receipt('job', { delayMs: 60_000 });
    store.setWallClock(HOUR_MS);
    expect(store.ask('queue::job', { id })).toMatchObject({ due_at: store.nowMs + 60_000 });
  });
});

describe('retries', () => {
  test('[Q4] attempts 1 to 6 are due exactly at the documented times', () => {
    const store = new QueueStore();
    store.receipt('job');
    let job = only(store.claim());
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(job.attempt).toBe(attempt);
      const afterMs = retryDelayMs({ maxRetries: 9, backoffMs: 2_000, isExponential: true }, attempt) ?? 0;
      expect(store.settle(job, 'retry', { afterMs, error: 'no' }).nextDueMs).toBe(store.nowMs + afterMs);
      // An engine that starts meanwhile changes nothing.
      store.ask('queue::open', { isFifo: false });
      store.nowMs += afterMs - 1;
      expect(store.claim()).toEqual([]);
      store.nowMs += 1;
      job = only(store.claim());
    }
  });

  test('[Q8] an outcome with the token of an earlier hand-over is ignored and reported as stale', () => {
    const store = new QueueStore();
    store.receipt('job');
    const first = only(store.claim());
    store.settle(first, 'retry', { afterMs: 0 });
    const second = only(store.claim());
    expect(store.settle(first, 'done').stale).toBe(1);
    expect(store.stats().running).toBe(1);
    expect(store.settle(second, 'done').stale).toBe(0);
    expect(store.stats()).toMatchObject({ running: 0, fresh: 0 });
  });
});

describe('an engine that starts', () => {
  test('[R2] returns running jobs to the head of the queue, without using an attempt', () => {
    const store = new QueueStore();
    for (const n of [1, 2, 3, 4]) store.receipt(n);
    store.claim(2);
    store.ask('queue::open', { isFifo: false });
    const { jobs, payloads } = store.advance({ claim: 4 });
    expect(payloads).toEqual([1, 2, 3, 4]);
    expect(jobs.map(({ attempt, token }) => [attempt, token])).toEqual([
      [1, 2],
      [1, 2],
      [1, 1],
      [1, 1],
    ]);
  });

  test('[R2] returns the head of a fifo group to its place', () => {
    const store = new QueueStore('q', FIFO);
    for (const n of [1, 2]) store.receipt({ g: 'a', n });
    store.claim(1);
    store.ask('queue::open', { isFifo: true });
    expect(store.advance({ claim: 5 }).payloads).toEqual([{ g: 'a', n: 1 }]);
  });

  test('[K4] cannot change a fifo queue with jobs to a standard queue', () => {
    const store = new QueueStore('q', FIFO);
    store.ask('queue::open', { isFifo: true });
    store.receipt({ g: 1 });
    expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ isRefused: true });
    store.settle(only(store.claim()), 'done');
    expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ isRefused: false });
  });
});

describe('jobs that cannot run', () => {
  test('[Q6] a job that is handed over too often becomes a dead letter, even without a failed attempt', () => {
    const store = new QueueStore();
    const id = store.receipt('deadly');
    for (let delivery = 0; delivery < 9; delivery++) {
      expect(store.advance({ claim: 1, deliveriesMax: 9 }).jobs).toHaveLength(1);
      store.ask('queue::open', { isFifo: false });
    }
    expect(store.advance({ claim: 1, deliveriesMax: 9 })).toMatchObject({ jobs: [], died: 1 });
    expect(store.ask('queue::dead_list', { offset: 0, limit: 9 })).toMatchObject([
      { id, reason: 'poison', retries: 0, deliveries: 9, payload: 'deadly' },
    ]);
  });

  test('[Q7] a job of an absent function becomes a dead letter after its time', () => {
    const store = new QueueStore();
    store.receipt('job');
    store.settle(only(store.claim()), 'park', { isUnsent: true });
    store.nowMs += 86_400_000 - 1;
    expect(store.advance({ claim: 1 })).toMatchObject({ jobs: [], died: 0 });
    store.nowMs += 1;
    expect(store.advance({ claim: 1 })).toMatchObject({ jobs: [], died: 1 });
    expect(store.ask('queue::dead_list', { offset: 0, limit: 9 })).toMatchObject([{ reason: 'function_not_found' }]);
  });

  test('[Q7] the parked jobs of one function wake together', () => {
    const store = new QueueStore();
    for (const functionId of ['a', 'b', 'a']) store.receipt(functionId, { facts: { functionId } });
    for (const job of store.claim(3)) store.settle(job, 'park', { isUnsent: true });
    expect(store.ask('queue::open', { isFifo: false }).parkedFunctions.sort()).toEqual(['a', 'b']);
    expect(store.ask('queue::wake', { functionId: 'a' })).toEqual({ moved: 2, hasMore: false });
    expect(store.advance({ claim: 5 }).payloads).toEqual(['a', 'a']);
    expect(store.stats().parked).toBe(1);
  });

  test('[Q10] a redrive moves many dead letters in steps, and leaves those that die in the meantime', () => {
    const store = new QueueStore();
    for (let n = 0; n < 450; n++) store.receipt(n);
    for (const job of store.claim(450)) store.settle(job, 'dead', { error: 'no' });
    const first = store.move('redrive');
    expect(first).toMatchObject({ moved: 200, hasMore: true });
    const [again] = store.claim(1);
    if (again !== undefined) store.settle(again, 'dead', { error: 'again' });
    expect(store.move('redrive', { beforeDeath: 451 })).toMatchObject({ moved: 200, hasMore: true });
    expect(store.move('redrive', { beforeDeath: 451 })).toMatchObject({ moved: 50, hasMore: false });
    expect(store.stats()).toMatchObject({ dead: 1, ready: 449 });
  });

  test('[Q10] [Q2] a queue with too many dead letters refuses jobs', () => {
    const store = new QueueStore('q', { maxDeadLetters: 1 });
    store.receipt(1);
    store.settle(only(store.claim()), 'dead', { error: 'no' });
    expect(store.enqueue(2)).toMatchObject({ reason: 'QUEUE_FULL' });
    store.move('discard');
    expect(store.enqueue(2)).toHaveProperty('id');
  });
});

describe('fifo groups', () => {
  test('[F2] while the head of a group waits for its retry, only other groups continue', () => {
    const store = new QueueStore('q', FIFO);
    for (const [g, n] of [
      ['a', 1],
      ['a', 2],
      ['b', 1],
    ]) {
      store.receipt({ g, n });
    }
    const head = only(store.claim());
    store.settle(head, 'retry', { afterMs: 60_000 });
    const other = store.advance({ claim: 1 });
    expect(other.payloads).toEqual([{ g: 'b', n: 1 }]);
    store.settle(only(other.jobs), 'done');
    expect(store.claim()).toEqual([]);
    store.nowMs += 60_000;
    const again = store.advance({ claim: 5 });
    expect(again.payloads).toEqual([{ g: 'a', n: 1 }]);
    store.settle(only(again.jobs), 'dead', { error: 'no' });
    expect(store.advance({ claim: 5 }).payloads).toEqual([{ g: 'a', n: 2 }]);
  });

  test('[F5] a number and its text are different groups, and 1.0 is 1', () => {
    const store = new QueueStore('q', FIFO);
    const bodies = [1, '1', true, 'true', 1.5];
    for (const g of bodies) store.receipt({ g });
    expect(store.claim(9)).toHaveLength(bodies.length);
  });

  test('[F5] leave nothing in the store when they are empty', () => {
    const store = new QueueStore('q', FIFO);
    store.receipt({ g: 'first' });
    store.settle(only(store.claim()), 'done');
    const before = store.recordCount;
    for (let g = 0; g < 1_000; g++) store.receipt({ g });
    for (const job of store.claim(1_000)) store.settle(job, 'done');
    expect(store.recordCount).toBe(before);
  });
});

test('[Q3] keys and their records are removed after a day', () => {
  const store = new QueueStore();
  const first = store.receipt(1, { idempotencyKey: 'k' });
  store.nowMs += 86_400_000 - 1;
  expect(store.receipt(1, { idempotencyKey: 'k' })).toBe(first);
  store.nowMs += 1;
  expect(store.receipt(1, { idempotencyKey: 'k' })).not.toBe(first);
});

test('[Q1] in any sequence of steps, each job is in exactly one place', () => {
  forEachSeed(30, (random) => {
    const isFifo = random.chance(50);
    const store = new QueueStore('q', isFifo ? FIFO : {});
    store.ask('queue::open', { isFifo });
    const running: ClaimedJob[] = [];
    let [enqueued, gone] = [0, 0];
    for (let step = 0; step < 200; step++) {
      const verb = random.below(8);
      if (verb < 3) {
        store.receipt({ g: random.below(4) }, random.chance(20) ? { delayMs: random.below(100), priority: 0 } : {});
        enqueued++;
      } else if (verb === 3) running.push(...store.claim(random.below(4)));
      else if (verb === 4) store.move('redrive');
      else if (verb === 5) store.nowMs += random.below(200);
      else {
        const [job] = running.splice(random.below(running.length + 1), 1);
        if (job === undefined) continue;
        const how = random.pick(['done', 'retry', 'dead', 'release', 'park'] as const);
        store.settle(job, how, how === 'retry' ? { afterMs: random.below(100) } : {});
        if (how === 'done') gone++;
        if (how === 'park') store.ask('queue::wake', { functionId: 'f' });
      }
      const { fresh, ready, blocked, delayed, retrying, parked, dead, running: runs } = store.stats();
      expect(fresh + ready + blocked + delayed + retrying + parked + dead + runs).toBe(enqueued - gone);
      expect(runs).toBe(running.length);
    }
    // All remaining jobs can be run to their end, and leave nothing in the store.
    for (const job of running) store.settle(job, 'release');
    store.nowMs += 1_000_000;
    for (let round = 0; round < 500 && gone < enqueued; round++) {
      store.move('redrive');
      for (const job of store.claim(50)) {
        store.settle(job, 'done');
        gone++;
      }
    }
    expect(gone).toBe(enqueued);
    expect(store.recordCount).toBe(3);
  });
});
