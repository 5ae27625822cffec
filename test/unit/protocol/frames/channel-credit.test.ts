import { describe, expect, test } from 'vitest';
import {
  type Credit,
  CreditAccount,
  CreditWindow,
  decodeCredit,
  encodeCredit,
} from '../../../../src/protocol/frames/channel-credit.ts';
import { forEachSeed, RUNS_ALL_SEEDS } from '../../../support/random/seeded-random.ts';

describe('credit', () => {
  test('[CH1] A sender that respects its credit has at most one window and one frame unread', () => {
    let waits = 0;
    forEachSeed(40, (random) => {
      const size: Credit = { frames: random.between(1, 20), bytes: random.between(1, 1000) };
      const window = new CreditWindow(size);
      const account = new CreditAccount(window.size);
      const onTheWay: number[] = [];
      let largest = 0;
      let sent = 0;
      while (sent < 300) {
        if (account.isOpen && random.chance(60)) {
          const bytes = random.pick([0, 1, 50, 400, 5000]);
          largest = Math.max(largest, bytes);
          account.spend(bytes);
          onTheWay.push(bytes);
          sent++;
        } else {
          if (!account.isOpen) waits++;
          const bytes = onTheWay.shift();
          // A sender without credit must have unread frames, or no grant would ever arrive.
          if (bytes === undefined) expect(account.isOpen).toBe(true);
          else account.add(window.release(bytes) ?? { frames: 0, bytes: 0 });
        }
        expect(onTheWay.length).toBeLessThanOrEqual(size.frames);
        expect(onTheWay.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(size.bytes + largest);
      }
      while (onTheWay.length > 0) account.add(window.release(onTheWay.shift() ?? 0) ?? { frames: 0, bytes: 0 });
      expect(account.isOpen).toBe(true);
    });
    if (RUNS_ALL_SEEDS) expect(waits).toBeGreaterThan(400);
  });

  test('[CH1] A window takes about two grants', () => {
    const window = new CreditWindow({ frames: 64, bytes: 1e9 });
    const grants = Array.from({ length: 640 }, () => window.release(10)).filter((grant) => grant !== undefined);
    expect(grants).toHaveLength(20);
    expect(grants[0]).toEqual({ frames: 32, bytes: 320 });
  });

  test('[CH1] A grant is the same after it is written and read', () => {
    for (const credit of [
      { frames: 0, bytes: 0 },
      { frames: 64, bytes: 1_048_576 },
      { frames: 1, bytes: Number.MAX_SAFE_INTEGER },
    ]) {
      expect(decodeCredit(encodeCredit(credit))).toEqual(credit);
    }
    expect(decodeCredit('{"bytes":2,"later":true,"frames":1,"type":"credit"}')).toEqual({ frames: 1, bytes: 2 });
  });

  test.each([
    '',
    'credit',
    'null',
    '[]',
    '7',
    '{}',
    '{"type":"credit"}',
    '{"type":"credit","frames":1}',
    '{"type":"credit","frames":1,"bytes":-1}',
    '{"type":"credit","frames":1.5,"bytes":1}',
    '{"type":"credit","frames":"1","bytes":1}',
    '{"type":"credit","frames":1e308,"bytes":1}',
    '{"type":"debit","frames":1,"bytes":1}',
    `{"type":"credit","frames":1,"bytes":1${' '.repeat(200)}}`,
  ])('[CH1] %j is not a grant', (text) => {
    expect(decodeCredit(text)).toBeUndefined();
  });

  test('[CH1] Sums of grants of any size are exact', () => {
    const account = new CreditAccount({ frames: 0, bytes: 0 });
    for (let grant = 0; grant < 10; grant++) {
      account.add({ frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER });
    }
    account.spend(1);
    expect(account.isOpen).toBe(true);
  });
});
