import { expect, test } from 'vitest';
import { QueueLog } from '../../../../src/modules/queue/queue-log.ts';
import { FakeClock } from '../../../support/fakes/fake-clock.ts';

test('the first dead job is logged at once, and later ones every ten seconds', () => {
  const clock = new FakeClock();
  const logged: unknown[] = [];
  const log = new QueueLog('mail', { clock, logger: { warn: (_text, fields) => void logged.push(fields?.jobs) } });
  for (let second = 0; second < 25; second++) {
    for (let step = 0; step < 100; step++) log.died(64);
    clock.advance(1_000);
  }
  expect(logged).toEqual([64, 64_000 - 64, 64_000]);
  clock.advance(60_000);
  expect(logged).toEqual([64, 64_000 - 64, 64_000, 32_000]);
  expect(clock.timerCount).toBe(0);
  log.died(1);
  expect(logged.at(-1)).toBe(1);
});
