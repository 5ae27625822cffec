import { expect, test } from 'vitest';
import type { EnqueueAnswer } from '../../../../../src/core/queue/shapes.ts';
import { GatheredJobs } from '../../../../../src/modules/queue/adapters/new-jobs.ts';
import { FakeClock } from '../../../../support/fakes/fake-clock.ts';

const RULES = { maxJobs: 1_000, maxDeadLetters: 1_000, unroutableTtlMs: 1_000 };
const KEPT: EnqueueAnswer = { id: 'kept' };

function setUp() {
  const clock = new FakeClock();
  const sent: { readonly jobs: number; keep(): void }[] = [];
  const gathered = new GatheredJobs(clock, ({ jobs }, done) => {
    sent.push({ jobs: jobs.length, keep: () => done(jobs.map(() => KEPT)) });
  });
  const receipts: string[] = [];
  const produce = (jobs: number): void => {
    for (let job = 0; job < jobs; job++) {
      const answered = (answer: EnqueueAnswer): unknown => receipts.push('id' in answer ? answer.id : answer.reason);
      gathered.add('orders', RULES, { facts: { functionId: 'orders::ship' }, payload: undefined }, answered);
    }
  };
  return { clock, sent, receipts, produce };
}

test('[D2] Jobs of one turn are stored together, at its end', () => {
  const { clock, sent, receipts, produce } = setUp();
  produce(10);
  expect(sent).toEqual([]);
  clock.flush();
  expect(sent.map(({ jobs }) => jobs)).toEqual([10]);
  sent[0]?.keep();
  expect(receipts).toEqual(Array.from({ length: 10 }, () => 'kept'));
});

test('Many jobs of one turn are split, so that some producers get their receipts earlier', () => {
  const { clock, sent, produce } = setUp();
  produce(64);
  clock.flush();
  expect(sent.map(({ jobs }) => jobs)).toEqual([16, 16, 32]);
  // Half of all waiting producers: 32 are with the store.
  for (const batch of sent.slice(0, 2)) batch.keep();
  produce(32);
  expect(sent.map(({ jobs }) => jobs)).toEqual([16, 16, 32, 32]);
});
