// Records of queues that fail their checksum (D9): they are never handed to a worker, they are reported and set aside
// in the store, and they block neither other jobs nor the next start.

import { describe, expect, test } from 'vitest';
import { QueueStore } from '../../../../support/stores/queue-store.ts';

const REASON = 'a damaged record blocks no other job, is reported and is set aside';

describe('[D9] [Q12] In a queue', () => {
  test(`of blocks, ${REASON}`, () => {
    const store = new QueueStore();
    for (const n of [1, 2, 3]) store.receipt(n);
    store.damage('B', 1);
    expect(store.advance({ claim: 5 }).payloads).toEqual([1, 3]);
    expect(store.damagedRecords).toBe(1);
    expect(store.advance({ claim: 5 })).toMatchObject({ jobs: [], hasMore: false });
    expect(store.stats()).toMatchObject({ fresh: 0, running: 2 });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
  });

  test('running jobs of a damaged block can still end', () => {
    const store = new QueueStore();
    store.receipts(1, 2, 3, 4);
    const [one, two] = store.claim(2);
    store.damage('B');
    if (one !== undefined) store.settle(one, 'done');
    if (two !== undefined) store.settle(two, 'retry', { afterMs: 5, error: 'no' });
    expect(store.claim(5)).toEqual([]);
    expect(store.stats()).toMatchObject({ fresh: 0, running: 0, retrying: 0 });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
  });

  test('a block with a job that cannot run does not block later blocks', () => {
    const store = new QueueStore();
    store.receipts(1, 2, 3);
    store.receipt(4);
    const [one, two] = store.claim(2);
    store.damage('B');
    if (one !== undefined) store.settle(one, 'retry', { afterMs: 5, error: 'no' });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
    expect(store.advance({ claim: 5 }).payloads).toEqual([4]);
    expect(two && store.settle(two, 'done')).toMatchObject({ stale: 0 });
    expect(store.stats()).toMatchObject({ fresh: 0, running: 1, retrying: 0 });
  });

  test('an engine that takes over skips a damaged block whose jobs ran', () => {
    const store = new QueueStore();
    store.receipts(1, 2);
    store.claim(2);
    store.receipt(3);
    store.damage('B');
    expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ isRefused: false, hasMore: false });
    expect(store.advance({ claim: 5 }).payloads).toEqual([3]);
  });

  test('an engine that takes over counts no job as running if the record of running jobs is damaged', () => {
    const store = new QueueStore();
    store.receipts(1, 2);
    store.claim(2);
    store.damage('K');
    expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ isRefused: false });
    expect(store.stats()).toMatchObject({ running: 0 });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
  });

  test.each(['J', 'W'] as const)(`of records (%s), ${REASON}`, (kind) => {
    const store = new QueueStore();
    for (const n of [1, 2, 3]) store.receipt(n, { priority: 1 });
    store.damage(kind, 1);
    expect(store.advance({ claim: 5 }).payloads).toEqual([1, 3]);
    expect(store.damagedRecords).toBe(1);
    expect(store.stats()).toMatchObject({ ready: 0, running: 2 });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
  });

  test.each(['J', 'W'] as const)(`of delayed jobs (%s), ${REASON}`, (kind) => {
    const store = new QueueStore();
    for (const n of [1, 2]) store.receipt(n, { delayMs: 10 });
    store.damage(kind);
    store.nowMs += 10;
    expect(store.advance({ claim: 5 }).payloads).toEqual([2]);
    expect(store.stats()).toMatchObject({ delayed: 0, running: 1 });
  });

  test('the outcome of a job whose mark is damaged does not block those of others', () => {
    const store = new QueueStore();
    for (const n of [1, 2]) store.receipt(n, { priority: 1 });
    const jobs = store.claim(2);
    store.damage('R');
    const settled = jobs.map(({ seq, token }) => ({ seq, token, how: 'done' as const }));
    expect(store.advance({ settled })).toMatchObject({ stale: 0 });
    expect(store.stats()).toMatchObject({ running: 0 });
    expect(store.damagedRecords).toBe(1);
  });
});

describe('[D9] [F2] In a fifo queue', () => {
  test.each(['J', 'W'] as const)('a damaged head (%s) does not stop the rest of its group', (kind) => {
    const store = new QueueStore('q', { groupField: 'g' });
    store.ask('queue::open', { isFifo: true });
    for (const n of [1, 2]) store.receipt({ g: 'a', n });
    store.damage(kind);
    expect([...store.advance({ claim: 1 }).payloads, ...store.advance({ claim: 1 }).payloads]).toEqual([
      { g: 'a', n: 2 },
    ]);
    expect(store.stats()).toMatchObject({ ready: 0, blocked: 0, running: 1 });
  });

  test('a damaged job in the middle of a group is left out', () => {
    const store = new QueueStore('q', { groupField: 'g' });
    store.ask('queue::open', { isFifo: true });
    for (const n of [1, 2, 3]) store.receipt({ g: 'a', n });
    store.damage('W', 1);
    const [first] = store.claim();
    if (first !== undefined) store.settle(first, 'done');
    expect(store.advance({ claim: 1 }).payloads).toEqual([{ g: 'a', n: 3 }]);
    expect(store.stats()).toMatchObject({ blocked: 0 });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
  });
});

describe('[D9] [Q7] [Q10] Of parked and dead jobs', () => {
  test.each(['J', 'W'] as const)('a damaged parked job (%s) does not prevent others from waking', (kind) => {
    const store = new QueueStore();
    for (const n of [1, 2]) store.receipt(n);
    for (const job of store.claim(2)) store.settle(job, 'park', { isUnsent: true });
    store.damage(kind);
    expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ parkedFunctions: ['f'] });
    store.ask('queue::wake', { functionId: 'f' });
    expect(store.advance({ claim: 5 }).payloads).toEqual([2]);
    expect(store.stats()).toMatchObject({ parked: 0, ready: 0 });
  });

  test.each(['J', 'X'] as const)(
    'a damaged dead letter (%s) does not prevent others from being listed and redriven',
    (kind) => {
      const store = new QueueStore();
      for (const n of [1, 2]) store.receipt(n);
      for (const job of store.claim(2)) store.settle(job, 'dead', { error: 'no' });
      store.damage(kind);
      expect(store.ask('queue::dead_list', { offset: 0, limit: 9 })).toMatchObject([{ payload: 2 }]);
      expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
      expect(store.stats()).toMatchObject({ dead: 1 });
      expect(store.move('redrive')).toMatchObject({ moved: 1 });
      expect(store.advance({ claim: 5 }).payloads).toEqual([2]);
      expect(store.stats()).toMatchObject({ dead: 0, ready: 0 });
      expect(store.damagedRecords).toBe(1);
    },
  );

  test.each(['J', 'X'] as const)('a damaged dead letter (%s) is set aside, not redriven', (kind) => {
    const store = new QueueStore();
    const ids = [1, 2, 3].map((n) => store.receipt(n));
    for (const job of store.claim(3)) store.settle(job, 'dead', { error: 'no' });
    store.damage(kind);
    expect(store.move('redrive', { id: ids[0] }, '"edited"')).toMatchObject({ moved: 0 });
    store.damage(kind);
    expect(store.move('redrive')).toMatchObject({ moved: 1 });
    expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
    expect(store.stats()).toMatchObject({ dead: 0, ready: 1 });
    expect(store.damagedRecords).toBe(2);
  });

  test('a damaged dead letter can be discarded', () => {
    const store = new QueueStore();
    store.receipt(1);
    for (const job of store.claim()) store.settle(job, 'dead', { error: 'no' });
    store.damage('J');
    expect(store.move('discard')).toMatchObject({ moved: 1 });
    expect([store.hasDamaged, store.stats().dead]).toEqual([false, 0]);
  });

  test('a damaged job does not prevent others from being listed', () => {
    const store = new QueueStore();
    const receipts = [1, 2, 3].map((n) => store.receipt(n, { priority: 1 }));
    store.damage('J', 1);
    const { rows } = store.ask('queue::jobs', { limit: 9 });
    expect(rows.map((row: { messageReceiptId: string }) => row.messageReceiptId)).toEqual([receipts[0], receipts[2]]);
  });
});

test.each(['E', 'I'] as const)(
  '[D9] [Q3] a damaged record of an expired key (%s) does not prevent an enqueue',
  (kind) => {
    const store = new QueueStore();
    store.receipt(1, { idempotencyKey: 'k' });
    store.damage(kind);
    store.nowMs += 25 * 3_600_000;
    store.receipt(2);
    expect(store.advance({ claim: 5 }).payloads).toEqual([1, 2]);
    expect(store.hasDamaged).toBe(false);
  },
);

test('[Q7] messages kept for a first subscriber stay kept while its queue is full', () => {
  const store = new QueueStore();
  for (const n of [1, 2, 3]) store.receipt(n, { isKept: true });
  const rules = { maxJobs: 2, maxDeadLetters: 9, unroutableTtlMs: 1_000 };
  const moved = store.ask('queue::kept_moves', { from: 'q', to: 'other', functionId: 'f', rules });
  expect(moved).toEqual({ moved: 2, hasMore: false });
  expect(store.stats()).toMatchObject({ parked: 1 });
});

const DAMAGES = [
  [
    'fails its checksum',
    (store: QueueStore, kind: 'A' | 'C' | 'D' | 'G' | 'O' | 'P', nth = 0) => store.damage(kind, nth),
  ],
  [
    'leads elsewhere',
    (store: QueueStore, kind: 'A' | 'C' | 'D' | 'G' | 'O' | 'P', nth = 0) => store.misplace(kind, nth),
  ],
] as const;

/** What can be claimed until there is nothing left, each job being done before the next is asked for. */
function drain(store: QueueStore): unknown[] {
  const seen: unknown[] = [];
  for (let step = 0; step < 20; step++) {
    const { jobs, payloads } = store.advance({ claim: 5 });
    seen.push(...payloads);
    for (const job of jobs) store.settle(job, 'done');
  }
  return seen;
}

describe.each(DAMAGES)('[D9] [Q1] [Q12] An entry of an index that %s', (what, strike) => {
  const isNoticed = what === 'leads elsewhere';

  test('does not prevent any job from being claimed', () => {
    const store = new QueueStore();
    for (const n of [1, 2, 3]) store.receipt(n, { priority: 1 });
    strike(store, 'A', 1);
    expect(drain(store).toSorted()).toEqual([1, 2, 3]);
    expect(store.damagedRecords > 0).toBe(isNoticed);
    expect(store.stats()).toMatchObject({ ready: 0, running: 0 });
    expect(store.advance({ claim: 5 })).toMatchObject({ hasMore: false, nextDueMs: null });
  });

  test('does not prevent any due job from being claimed', () => {
    const store = new QueueStore();
    for (const n of [1, 2, 3]) store.receipt(n, { delayMs: 10 * n });
    strike(store, 'D');
    store.nowMs += 100;
    expect(drain(store).toSorted()).toEqual([1, 2, 3]);
    expect(store.stats()).toMatchObject({ delayed: 0, running: 0 });
  });

  test.each(['C', 'G'] as const)('lets a fifo group continue in order (%s)', (kind) => {
    const store = new QueueStore('q', { groupField: 'g' });
    store.ask('queue::open', { isFifo: true });
    for (const n of [1, 2, 3]) store.receipt({ g: 'a', n });
    strike(store, kind);
    const all = [1, 2, 3].map((n) => ({ g: 'a', n }));
    expect(drain(store)).toEqual(all);
    expect(store.stats()).toMatchObject({ ready: 0, blocked: 0 });
  });

  test('does not prevent other jobs from waking', () => {
    const store = new QueueStore();
    for (const n of [1, 2]) store.receipt(n);
    for (const job of store.claim(2)) store.settle(job, 'park', { isUnsent: true });
    strike(store, 'P');
    expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ parkedFunctions: ['f'] });
    store.ask('queue::wake', { functionId: 'f' });
    expect(drain(store)).toContain(2);
  });

  test('does not prevent other dead letters from being redriven', () => {
    const store = new QueueStore();
    for (const n of [1, 2]) store.receipt(n);
    for (const job of store.claim(2)) store.settle(job, 'dead', { error: 'no' });
    strike(store, 'O');
    store.move('redrive');
    expect(drain(store)).toContain(2);
  });
});

test('[D9] [R2] an engine that takes over skips the damaged mark of a job that ran', () => {
  const store = new QueueStore();
  for (const n of [1, 2]) store.receipt(n, { priority: 1 });
  store.claim(2);
  store.damage('R');
  expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ isRefused: false });
  expect(store.advance({ claim: 5 }).payloads).toEqual([2]);
  expect([store.hasDamaged, store.hasSetAside]).toEqual([false, true]);
});
