import { describe, expect, test } from 'vitest';
import { ConnectionGate } from '../../../../src/core/gates/connection-gate.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('connections at a time', () => {
  test('[guarantees 4] One more than the limit finds the gate full, until a connection ends', () => {
    const gate = new ConnectionGate({ connectionsMax: 2, connectionsPerSecondMax: 100 });
    expect([gate.enter(0), gate.enter(0), gate.enter(0)]).toEqual(['open', 'open', 'full']);
    gate.leave();
    expect([gate.enter(0), gate.enter(0)]).toEqual(['open', 'full']);
  });

  test('[guarantees 4] A refused connection takes no place', () => {
    const gate = new ConnectionGate({ connectionsMax: 1, connectionsPerSecondMax: 100 });
    gate.enter(0);
    for (let attempt = 0; attempt < 10; attempt++) expect(gate.enter(0)).toBe('full');
    gate.leave();
    expect(gate.enter(0)).toBe('open');
  });
});

describe('a process without room for more', () => {
  test('[guarantees 4] It finds the gate full, and is asked only for connections that would be admitted', () => {
    let [room, asked] = [1, 0];
    const gate = new ConnectionGate({ connectionsMax: 9, connectionsPerSecondMax: 3 }, () => {
      asked++;
      return room-- > 0;
    });
    expect([gate.enter(0), gate.enter(0)]).toEqual(['open', 'full']);
    room = 9;
    expect([gate.enter(0), gate.enter(0), gate.enter(0)]).toEqual(['open', 'open', 'too_fast']);
    expect(asked).toBe(4);
  });
});

describe('connections per second', () => {
  test('[guarantees 4] One more than the limit is too fast, until the second is over', () => {
    const gate = new ConnectionGate({ connectionsMax: 100, connectionsPerSecondMax: 2 });
    expect([gate.enter(5000), gate.enter(5500), gate.enter(5999)]).toEqual(['open', 'open', 'too_fast']);
    expect([gate.enter(6000), gate.enter(6000), gate.enter(6000)]).toEqual(['open', 'open', 'too_fast']);
  });

  test('[guarantees 4] Leaving does not let more in within the same second', () => {
    const gate = new ConnectionGate({ connectionsMax: 100, connectionsPerSecondMax: 1 });
    expect(gate.enter(0)).toBe('open');
    gate.leave();
    expect(gate.enter(999)).toBe('too_fast');
    expect(gate.enter(1000)).toBe('open');
  });
});

describe('whatever comes', () => {
  test('[guarantees 4] Neither limit is ever exceeded, and no connection is refused without reason', () => {
    forEachSeed(50, (random) => {
      const limits = { connectionsMax: random.between(1, 20), connectionsPerSecondMax: random.between(1, 10) };
      const gate = new ConnectionGate(limits);
      const taken: number[] = [];
      let open = 0;
      let nowMs = 0;
      for (let step = 0; step < 300; step++) {
        nowMs += random.below(300);
        if (open > 0 && random.chance(30)) {
          gate.leave();
          open--;
          continue;
        }
        const verdict = gate.enter(nowMs);
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
