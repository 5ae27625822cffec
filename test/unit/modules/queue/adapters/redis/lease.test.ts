import { expect, test } from 'vitest';
import { Lease } from '../../../../../../src/modules/queue/adapters/redis/lease.ts';
import { FakeClock } from '../../../../../support/fakes/fake-clock.ts';

test('[Q8] [R2] A lease ends its duration after the time of the request', async () => {
  const clock = new FakeClock();
  let isAway = false;
  const renew = async (): Promise<number> => {
    if (isAway) throw new Error('away');
    return Number.POSITIVE_INFINITY;
  };
  const lease = new Lease({ leaseMs: 30_000, clock, renew });
  expect(lease.isHeld).toBe(false);
  await lease.hold();
  expect(lease.isHeld).toBe(true);
  isAway = true;
  // The process was stopped, or no broker answers.
  clock.stall(29_999);
  expect(lease.isHeld).toBe(true);
  clock.stall(1);
  expect(lease.isHeld).toBe(false);
  isAway = false;
  await lease.hold();
  expect(lease.isHeld).toBe(true);
  lease.end();
});
