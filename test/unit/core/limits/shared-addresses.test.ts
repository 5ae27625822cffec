import { describe, expect, test } from 'vitest';
import { ProcessCounts } from '../../../../src/core/limits/process-counts.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

const ROUTERS = 3;
const LIMITS = { connectionsMax: 3, connectionsPerSecondMax: 100 };

/** `zeroesMs`: how late the clock of each router is, compared with the first. */
function portsOf(seed = 7, zeroesMs = [0, 0, 0]) {
  const first = ProcessCounts.ofRouters(ROUTERS, seed, zeroesMs[0]);
  const others = [1, 2].map((router) => new ProcessCounts(first.shared, router, zeroesMs[router]));
  return [first, ...others].map((counts) => counts.ofStreamPort());
}

function addressesOf(seed?: number, limits = LIMITS) {
  return portsOf(seed).map((port) => port?.addresses?.(limits));
}

describe('the connections of an address at several routers', () => {
  test('[RO12] an address has the same number of connections on all routers together, until one ends', () => {
    const [one, other, third] = addressesOf();
    const entered = [one, other, third, one, other].map((router) => router?.enter('203.0.113.7', 0));
    expect(entered).toEqual([true, true, true, false, false]);
    expect(other?.enter('203.0.113.8', 0)).toBe(true);
    third?.leave('203.0.113.7');
    expect([one, other].map((router) => router?.enter('203.0.113.7', 0))).toEqual([true, false]);
  });

  test('[RO12] an address opens so many connections in a second on all routers together', () => {
    const [one, other] = addressesOf(7, { connectionsMax: 100, connectionsPerSecondMax: 2 });
    const at = (router: typeof one, nowMs: number) => router?.enter('2001:db8::1', nowMs);
    expect([at(one, 5_000), at(other, 5_500), at(one, 5_999), at(other, 6_000)]).toEqual([true, true, false, true]);
    for (const router of [one, other, one]) router?.leave('2001:db8::1');
    // It has none now, but its second is not over.
    expect([at(one, 6_100), at(other, 6_200)]).toEqual([true, false]);
  });

  test('[RO12] no address is over its limit and none is refused without reason, however they come and go', () => {
    forEachSeed(20, (random) => {
      const routers = addressesOf(random.between(1, 1_000_000));
      const open = new Map<string, number>();
      for (let step = 0; step < 2_000; step++) {
        const router = routers[random.below(ROUTERS)];
        const address = `2001:db8::${random.below(300).toString(16)}`;
        const before = open.get(address) ?? 0;
        if (before > 0 && random.chance(40)) {
          router?.leave(address);
          open.set(address, before - 1);
          continue;
        }
        const isIn = router?.enter(address, step) ?? false;
        expect(isIn).toBe(before < LIMITS.connectionsMax);
        if (isIn) open.set(address, before + 1);
      }
    });
  });

  test('[RO12] more addresses have connections at once than a process can have connections', () => {
    const [one, other] = addressesOf();
    let refused = 0;
    for (let n = 0; n < 100_000; n++) {
      if (!(n % 2 === 0 ? one : other)?.enter(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 0)) refused++;
    }
    expect(refused).toBe(0);
  });
});

describe('new connections at several routers', () => {
  test('[RO12] a port takes so many in a second on all routers together, whatever their clocks begin with', () => {
    const [one, other] = portsOf(7, [0, 4_000, 0]);
    const taken = [
      one?.rate.take(5_000, 2),
      other?.rate.take(1_500, 2),
      one?.rate.take(5_999, 2),
      other?.rate.take(2_000, 2),
    ];
    expect(taken).toEqual([true, true, false, true]);
  });

  test('[RO12] one that is given back leaves its place in the second to another router', () => {
    const [one, other] = portsOf();
    expect([one?.rate.take(0, 1), other?.rate.take(0, 1)]).toEqual([true, false]);
    one?.rate.giveBack();
    expect([other?.rate.take(0, 1), one?.rate.take(0, 1)]).toEqual([true, false]);
  });

  test('[RO12] a second that is weeks ago is over', () => {
    const [one] = portsOf();
    const week = 7 * 24 * 3_600_000;
    for (let at = 1; at < 12; at++)
      expect([one?.rate.take(at * week, 1), one?.rate.take(at * week, 1)]).toEqual([true, false]);
  });
});
