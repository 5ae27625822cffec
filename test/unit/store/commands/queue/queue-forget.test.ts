// Queues that are no longer used, and the reuse of their numbers.

import { expect, test } from 'vitest';
import { readReceipt } from '../../../../../src/store/commands/queue/receipt.ts';
import { QueueStore } from '../../../../support/stores/queue-store.ts';

const open = (store: QueueStore, queue: string) => store.ask('queue::open', { queue, isFifo: false });
const forget = (store: QueueStore, queue: string) => store.ask('queue::forget', { queue });
const names = (store: QueueStore): string[] => store.ask('queue::stats').map(({ queue }: { queue: string }) => queue);

test('[R3] The number of a removed queue is used again', () => {
  const store = new QueueStore('last');
  for (let n = 0; n < 100; n++) {
    open(store, `topic\n${n}`);
    forget(store, `topic\n${n}`);
  }
  expect(names(store)).toEqual([]);
  expect(readReceipt(store.receipt(1))?.queue).toBe(1);
  open(store, 'another');
  expect(names(store)).toEqual(['last', 'another']);
});

test('[R3] Each free number is used for one new queue', () => {
  const store = new QueueStore('a');
  for (const queue of ['x', 'y']) open(store, queue);
  for (const queue of ['x', 'y']) forget(store, queue);
  const other = ['b', 'c'];
  const first = readReceipt(store.receipt(1))?.queue;
  for (const queue of other) open(store, queue);
  expect(first).toBe(1);
  expect(names(store)).toEqual(['a', 'b', 'c']);
  expect(store.stats()).toMatchObject({ fresh: 1 });
});

test('[Q1] A queue with a job, a dead letter or a valid key is not removed', () => {
  const store = new QueueStore();
  store.receipt(1, { idempotencyKey: 'k' });
  const [job] = store.claim();
  forget(store, 'q');
  expect(names(store)).toEqual(['q']);
  if (job === undefined) throw new Error('There is no job');
  store.settle(job, 'dead', { reason: 'failed', error: 'no' });
  forget(store, 'q');
  expect(names(store)).toEqual(['q']);
  store.move('discard');
  forget(store, 'q');
  expect(names(store)).toEqual(['q']);
});

test('[D9] A damaged job that was set aside outlives its queue, and is in no other queue', () => {
  const store = new QueueStore();
  store.receipt(1, { delayMs: 10 });
  store.damage('J');
  store.nowMs += 20;
  expect(store.claim()).toEqual([]);
  forget(store, 'q');
  expect(names(store)).toEqual([]);
  store.ask('queue::open', { queue: 'other', isFifo: false });
  expect(store.ask('queue::jobs', { queue: 'other', limit: 9 })).toEqual({ rows: [] });
  expect(store.hasSetAside).toBe(true);
});

test('[Q10] The receipt of a removed job finds no job of a queue with the same number', () => {
  const store = new QueueStore();
  const id = store.receipt(1);
  const [job] = store.claim();
  if (job === undefined) throw new Error('There is no job');
  store.settle(job, 'done');
  store.advance({});
  forget(store, 'q');
  expect(names(store)).toEqual([]);
  store.ask('queue::open', { queue: 'other', isFifo: false });
  expect(names(store)).toEqual(['other']);
  expect(store.ask('queue::job', { id })).toBeNull();
});

test('[modules 6.5] Pausing survives the removal of a queue', () => {
  const store = new QueueStore();
  store.ask('queue::pause', { isPaused: true });
  forget(store, 'q');
  expect(names(store)).toEqual(['q']);
});
