// Queues that an earlier version wrote (D10): no job is lost, and a newer form is refused.

import { expect, test } from 'vitest';
import { QueueStore } from '../../../../support/stores/queue-store.ts';

test('[D10] Jobs of the first format are claimed in order, before later ones', () => {
  const store = new QueueStore();
  store.asFormOne(['a', 'b']);
  const later = store.receipts('c');
  store.migrate();
  expect(store.advance({ claim: 10 }).payloads).toEqual(['a', 'b', 'c']);
  expect(store.stats()).toMatchObject({ fresh: 0, ready: 0, running: 3 });
  expect(later).toHaveLength(1);
});

test('[D10] A thousand jobs of the first format are converted in steps', () => {
  const store = new QueueStore();
  store.asFormOne(Array.from({ length: 1_200 }, (_, index) => index));
  expect(store.migrate()).toBe(3);
  expect(store.stats()).toMatchObject({ fresh: 0, ready: 1_200 });
  expect(store.migrate()).toBe(1);
});

test('[D10] Jobs of the present format are not converted', () => {
  const store = new QueueStore();
  store.receipts('a', 'b');
  store.migrate();
  expect(store.stats()).toMatchObject({ fresh: 2, ready: 0 });
});

test('[D10] Queues of a newer format are refused with its number', () => {
  const store = new QueueStore();
  store.receipts('a');
  store.setFormat(3);
  expect(() => store.migrate()).toThrow(/have form 3, newer than 2/);
});
