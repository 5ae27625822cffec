import { expect, test } from 'vitest';
import { DeathNotice } from '../../../../src/modules/queue/death-notice.ts';
import { FakeClock } from '../../../support/fakes/fake-clock.ts';

test('of jobs that die one after the other the first is logged at once, the others every ten seconds', () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const deaths = new DeathNotice('mail', { clock, logger: { warn: (_text, fields) => void told.push(fields?.jobs) } });
  for (let second = 0; second < 25; second++) {
    for (let step = 0; step < 100; step++) deaths.add(64);
    clock.advance(1_000);
  }
  expect(told).toEqual([64, 64_000 - 64, 64_000]);
  clock.advance(60_000);
  expect(told).toEqual([64, 64_000 - 64, 64_000, 32_000]);
  expect(clock.timerCount).toBe(0);
  deaths.add(1);
  expect(told.at(-1)).toBe(1);
});
