import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { RedisLink } from '../../../src/effects/redis.ts';
import type { TickClaims } from '../../../src/modules/cron/claims.ts';
import { redisClaims } from '../../../src/modules/cron/redis-claims.ts';
import { RedisServer, SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, testTickClaims } from './tick-claims-contract.ts';

const logger = createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => {} });

function createClaims(keyPrefix: string, url = SHARED_REDIS, nowMs = () => Date.now()) {
  const differences: number[] = [];
  const claims: TickClaims = redisClaims({
    createLink: async () => new RedisLink({ url, purpose: 'cron', clock: systemClock, logger }),
    keyPrefix,
    nowMs,
    onFailure: () => {},
    onClockDifference: (differenceMs) => differences.push(differenceMs),
  });
  return { claims, differences };
}

testTickClaims({
  name: 'A shared Redis',
  newPlace: () => `svc-test:${randomUUID()}:`,
  create: (place) => createClaims(place).claims,
});

test('[K3] a Redis that is away claims nothing, and says so at once', async () => {
  await using server = await RedisServer.start();
  const { claims } = createClaims('svc-test:', server.url);
  await claims.start();
  await server.stop();
  await waitFor('the loss is noticed', () => claims.trouble);
  const outcome = await claim(claims, { trigger: 'a', atMs: 1_000, follows: false });
  expect(outcome).toMatchObject({ ok: false, reason: expect.stringContaining('cannot be used') });
  claims.stop();
});

test('[modules 7] a clock that differs from the one of Redis is reported', async () => {
  for (const [aheadMs, isTold] of [
    [0, false],
    [60_000, true],
    [-60_000, true],
  ] as const) {
    const { claims, differences } = createClaims('svc-test:', SHARED_REDIS, () => Date.now() + aheadMs);
    await claims.start();
    expect(differences.length > 0).toBe(isTold);
    claims.stop();
  }
});
