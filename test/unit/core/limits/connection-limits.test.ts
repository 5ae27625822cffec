import { describe, expect, test } from 'vitest';
import { ADDRESSES_MAX, AddressLimit, ConnectionLimit } from '../../../../src/core/limits/connection-limits.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('open connections', () => {
  test('[guarantees 4] One connection over the limit is refused as full, until another ends', () => {
    const limit = new ConnectionLimit({ connectionsMax: 2, connectionsPerSecondMax: 100 });
    expect([limit.enter(0), limit.enter(0), limit.enter(0)]).toEqual(['open', 'open', 'full']);
    limit.leave();
    expect([limit.enter(0), limit.enter(0)]).toEqual(['open', 'full']);
  });

  test('[guarantees 4] A refused connection does not count', () => {
    const limit = new ConnectionLimit({ connectionsMax: 1, connectionsPerSecondMax: 100 });
    limit.enter(0);
    for (let attempt = 0; attempt < 10; attempt++) expect(limit.enter(0)).toBe('full');
    limit.leave();
    expect(limit.enter(0)).toBe('open');
  });
});

describe('a process without a free file descriptor', () => {
  test('[guarantees 4] It refuses connections as full, and is asked only about those within the limits', () => {
    let [room, asked] = [1, 0];
    const limit = new ConnectionLimit({ connectionsMax: 9, connectionsPerSecondMax: 3 }, () => {
      asked++;
      return room-- > 0;
    });
    expect([limit.enter(0), limit.enter(0)]).toEqual(['open', 'full']);
    room = 9;
    expect([limit.enter(0), limit.enter(0), limit.enter(0)]).toEqual(['open', 'open', 'too_fast']);
    expect(asked).toBe(4);
  });
});

describe('connections per second', () => {
  test('[guarantees 4] One connection over the limit is refused as too fast, until the second is over', () => {
    const limit = new ConnectionLimit({ connectionsMax: 100, connectionsPerSecondMax: 2 });
    expect([limit.enter(5000), limit.enter(5500), limit.enter(5999)]).toEqual(['open', 'open', 'too_fast']);
    expect([limit.enter(6000), limit.enter(6000), limit.enter(6000)]).toEqual(['open', 'open', 'too_fast']);
  });

  test('[guarantees 4] A connection that ends makes no room within the same second', () => {
    const limit = new ConnectionLimit({ connectionsMax: 100, connectionsPerSecondMax: 1 });
    expect(limit.enter(0)).toBe('open');
    limit.leave();
    expect(limit.enter(999)).toBe('too_fast');
    expect(limit.enter(1000)).toBe('open');
  });
});

describe('connections in random order', () => {
  test('[guarantees 4] Neither limit is ever exceeded, and no connection is refused without reason', () => {
    forEachSeed(50, (random) => {
      const limits = { connectionsMax: random.between(1, 20), connectionsPerSecondMax: random.between(1, 10) };
      const limit = new ConnectionLimit(limits);
      const taken: number[] = [];
      let open = 0;
      let nowMs = 0;
      for (let step = 0; step < 300; step++) {
        nowMs += random.below(300);
        if (open > 0 && random.chance(30)) {
          limit.leave();
          open--;
          continue;
        }
        const verdict = limit.enter(nowMs);
        const lastSecond = taken.filter((timeMs) => timeMs > nowMs - 1000).length;
        if (verdict === 'full') expect(open).toBe(limits.connectionsMax);
        if (verdict === 'too_fast') expect(lastSecond).toBeGreaterThanOrEqual(limits.connectionsPerSecondMax);
        if (verdict !== 'open') continue;
        taken.push(nowMs);
        open++;
        expect(open).toBeLessThanOrEqual(limits.connectionsMax);
        // A second begins with the first connection in it, so two of them may overlap one second of the test.
        expect(lastSecond).toBeLessThan(2 * limits.connectionsPerSecondMax);
      }
    });
  });
});

test('The number of remembered addresses is limited: a new one is refused until others have left', () => {
  const limit = new AddressLimit({ connectionsMax: 2, connectionsPerSecondMax: 2 });
  const entered = (from: number, count: number, nowMs: number): number => {
    let sum = 0;
    for (let at = from; at < from + count; at++) if (limit.enter(`2001:db8::${at.toString(16)}`, nowMs)) sum++;
    return sum;
  };
  expect(entered(0, ADDRESSES_MAX + 500, 0)).toBe(ADDRESSES_MAX);
  // A known address is still admitted.
  expect(limit.enter('2001:db8::0', 0)).toBe(true);
  for (let at = 0; at < 100; at++) limit.leave(`2001:db8::${(at + 1).toString(16)}`);
  limit.trim(1_000);
  expect(entered(ADDRESSES_MAX, 500, 1_000)).toBe(100);
});
