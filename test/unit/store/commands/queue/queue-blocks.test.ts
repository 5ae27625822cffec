// The jobs of one turn are one record. A change of some of them does not affect the others.

import { expect, test } from 'vitest';
import { foldError, isErrorMeant } from '../../../../../src/core/queue/error-groups.ts';
import type { ClaimedJob } from '../../../../../src/core/queue/shapes.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';
import { QueueStore } from '../../../../support/stores/queue-store.ts';

test('[Q1] Jobs of one turn are one record, are claimed in order, and leave nothing in the store', () => {
  const store = new QueueStore();
  const receipts = store.receipts(0, 1, 2, 3, 4);
  expect(store.recordCount).toBe(4);
  const { jobs, payloads } = store.advance({ claim: 3 });
  expect(payloads).toEqual([0, 1, 2]);
  expect(jobs.map(({ id }) => id)).toEqual(receipts.slice(0, 3));
  expect(store.ask('queue::job', { id: receipts[0] })).toMatchObject({ state: 'running', attempt: 1 });
  expect(store.ask('queue::job', { id: receipts[4] })).toMatchObject({ state: 'waiting', attempt: 0 });
  for (const job of [...jobs, ...store.claim(9)]) store.settle(job, 'done');
  expect(store.ask('queue::job', { id: receipts[0] })).toBeNull();
  expect(store.recordCount).toBe(3);
});

test('[Q8] A job ends once, and only with its own token', () => {
  const store = new QueueStore();
  store.receipts(0, 1);
  const [first, second] = store.claim(2);
  if (first === undefined || second === undefined) throw new Error('There are no jobs');
  expect(store.settle(first, 'done').stale).toBe(0);
  expect(store.settle(first, 'done').stale).toBe(1);
  expect(store.settle({ ...second, token: 2 }, 'done').stale).toBe(1);
  expect(store.stats().running).toBe(1);
});

test('[R2] Released jobs return to their place, ahead of the rest of their block', () => {
  const store = new QueueStore();
  store.receipts(0, 1, 2, 3);
  const [first] = store.claim(2);
  if (first === undefined) throw new Error('There is no job');
  store.settle(first, 'done');
  expect(store.ask('queue::open', { isFifo: false })).toMatchObject({ moved: 1, hasMore: false });
  expect(store.advance({ claim: 9 }).payloads).toEqual([1, 2, 3]);
});

test('[QUE-2] Pages of jobs go through blocks and single records in the order of the receipts', () => {
  const store = new QueueStore();
  const receipts = [...store.receipts(0, 1, 2), store.receipt(3, { delayMs: 50 }), ...store.receipts(4, 5)];
  const [first, second] = store.claim(2);
  if (first === undefined || second === undefined) throw new Error('There are no jobs');
  store.settle(second, 'retry', { afterMs: 500, error: 'no' });
  const pages: { messageReceiptId: string; state: string }[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = store.ask('queue::jobs', { limit: 2, ...(after !== '' && { after }) });
    pages.push(...page.rows);
    after = page.next;
  }
  expect(pages.map(({ messageReceiptId }) => messageReceiptId)).toEqual(receipts);
  expect(pages.map(({ state }) => state)).toEqual(['running', 'retrying', 'waiting', 'delayed', 'waiting', 'waiting']);
});

test('[Q1] In any sequence of steps, each job of a block is in exactly one place', () => {
  forEachSeed(10, (random) => {
    const store = new QueueStore();
    store.ask('queue::open', { isFifo: false });
    let running: ClaimedJob[] = [];
    const open = new Set<string>();
    for (let step = 0; step < 150; step++) {
      const verb = random.below(7);
      if (verb < 2) for (const id of store.receipts(...Array(1 + random.below(12)).fill(step))) open.add(id);
      else if (verb === 2) running.push(...store.claim(1 + random.below(9)));
      else if (verb === 3 && random.chance(20)) {
        store.ask('queue::open', { isFifo: false });
        running = [];
      } else if (verb === 4) {
        store.move('redrive');
        store.nowMs += random.below(200);
      } else {
        const [job] = running.splice(random.below(running.length + 1), 1);
        if (job === undefined) continue;
        const how = random.pick(['done', 'done', 'retry', 'dead', 'release'] as const);
        expect(store.settle(job, how, how === 'retry' ? { afterMs: random.below(100) } : {}).stale).toBe(0);
        if (how === 'done') open.delete(job.id);
      }
      const { fresh, ready, delayed, retrying, parked, dead, running: runs } = store.stats();
      expect(fresh + ready + delayed + retrying + parked + dead + runs).toBe(open.size);
      expect(runs).toBe(running.length);
    }
    store.ask('queue::open', { isFifo: false });
    store.nowMs += 1_000_000;
    for (let round = 0; round < 500 && open.size > 0; round++) {
      store.move('redrive');
      for (const job of store.claim(50)) {
        expect(open.delete(job.id)).toBe(true);
        store.settle(job, 'done');
      }
    }
    expect(open.size).toBe(0);
    expect(store.recordCount).toBe(3);
  });
});

test('[QUE-3] Errors that differ only in digits and ids are one group', () => {
  expect(foldError('job 0192f0c1-7a52-7000-8000-000100011234: box 7 full')).toBe('job <id>: box <n> full');
  expect(foldError('span 4bf92f3577b34da6 gave up, feedbeef did not')).toBe('span <id> gave up, feedbeef did not');
  expect(isErrorMeant('box 7 full', 'box <n> full')).toBe(true);
  expect(isErrorMeant('box 7 full', 'box 8')).toBe(false);
});
