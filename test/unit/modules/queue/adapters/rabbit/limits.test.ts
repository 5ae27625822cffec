import { expect, test } from 'vitest';
import { Fullness } from '../../../../../../src/modules/queue/adapters/rabbit/limits.ts';
import { FakeClock } from '../../../../../support/fakes/fake-clock.ts';

test('The known counts of queues are limited; a queue that was dropped is queried again', () => {
  const asked: string[] = [];
  const counts = (queue: string) => {
    asked.push(queue);
    return Promise.resolve({ work: 0, parked: 0, dead: 0 });
  };
  const fullness = new Fullness({ counts }, new FakeClock(), () => 0);
  const rules = { maxJobs: 1, maxDeadLetters: 1, unroutableTtlMs: 0 };
  expect(fullness.refusal('first', rules)).toBeUndefined();
  for (let queue = 0; queue < 9_999; queue++) fullness.refusal(`queue ${queue}`, rules);
  expect(fullness.refusal('first', rules)).toMatchObject({ reason: 'QUEUE_FULL' });
  fullness.refusal('one more', rules);
  expect(fullness.refusal('first', rules)).toBeUndefined();
  expect(asked.filter((queue) => queue === 'first').length).toBe(2);
});
