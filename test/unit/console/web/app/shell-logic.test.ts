// Small pure parts of the console's shell.

import { describe, expect, test } from 'vitest';
import { bestMatches, receiptIn, traceIdIn } from '../../../../../src/console/web/app/palette-match.ts';
import { Ring } from '../../../../../src/console/web/data/ring.ts';
import { linePath, nearestAt } from '../../../../../src/console/web/kit/charts/chart-points.ts';
import {
  formatAge,
  formatBytes,
  formatCount,
  formatCountOf,
  formatDuration,
  formatShare,
} from '../../../../../src/console/web/kit/charts/times.ts';
import { visibleText } from '../../../../../src/console/web/kit/json/logic/visible-text.ts';
import { toCsv } from '../../../../../src/console/web/kit/table/table-export.ts';
import { rateOf } from '../../../../../src/console/web/pages/config/sampling.ts';

describe('the ring of live items', () => {
  test('[LIV-2] keeps the newest in order, and counts those that it dropped', () => {
    const ring = new Ring<number>(3);
    ring.push([0, 1, 2, 3, 4]);
    expect([ring.total, ring.first, ring.from(0)]).toEqual([5, 2, [2, 3, 4]]);
    expect([ring.at(1), ring.at(4), ring.at(5)]).toEqual([undefined, 4, undefined]);
  });
});

describe('charts', () => {
  test('[DSH-2] A missing measurement is a hole in the line', () => {
    const window = { fromMs: 0, toMs: 10_000, width: 100, height: 22 };
    const path = linePath(window, [0, 1_000, 2_000, 3_000, 9_000], [1, 1, null, 1, 1], 1, 5_000);
    expect(path.match(/M/g)?.length).toBe(3);
    // A moment without neighbours is drawn too.
    expect(path).toMatch(/M90\.0 2\.0h0$/);
    expect(nearestAt([0, 1_000, 2_000], 1_400)).toBe(1);
    expect(nearestAt([], 0)).toBeUndefined();
  });
});

describe('the palette', () => {
  test('[KEY-2] Letters in order find a name, matches at the beginning first', () => {
    const names = ['billing::charge', 'orders::create', 'orders::recharge', 'charge::all'];
    expect(bestMatches(names, (name) => name, 'charge', 9)).toEqual([
      'charge::all',
      'billing::charge',
      'orders::recharge',
    ]);
    expect(bestMatches(names, (name) => name, 'ocr', 9)[0]).toBe('orders::create');
  });

  test('[KEY-2] recognizes pasted ids', () => {
    expect(traceIdIn(' 4BF92F3577B34DA6A3CE929D0E0E4736 ')).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(receiptIn('01912d68-783e-7a03-8467-5661c1243ad4')).toBe('01912d68-783e-7a03-8467-5661c1243ad4');
    expect(receiptIn('4bf92f3577b34da6a3ce929d0e0e4736')).toBeUndefined();
  });
});

describe('texts', () => {
  test('[APP-8] Ages are cut, never rounded up', () => {
    expect(formatAge(0, 59_999)).toBe('59 s ago');
    expect(formatAge(90_000, 0)).toBe('in 1 min');
  });

  test('Measures keep their significant digits', () => {
    expect([0.0005, 0.05, 0.214, 12.34, 182.4, 1_820, 184_000].map(formatDuration)).toEqual([
      '500 ns',
      '50 µs',
      '0.21 ms',
      '12.3 ms',
      '182 ms',
      '1.82 s',
      '3 min 4 s',
    ]);
    expect([formatBytes(1_023), formatBytes(1_536)]).toEqual(['1023 B', '1.50 KiB']);
    expect(formatCount(1_234_567).split(/\s/)).toEqual(['1', '234', '567']);
    expect([formatCountOf(0, 'span'), formatCountOf(1, 'span'), formatCountOf(2, 'span')]).toEqual([
      '0 spans',
      '1 span',
      '2 spans',
    ]);
    expect([formatShare(0), formatShare(0.0004)]).toEqual(['0 %', '<0.1 %']);
  });

  test('Invisible characters and direction marks are shown as their code', () => {
    expect(visibleText('a\u202Eb\u200B\n')).toBe('a⟨202E⟩b⟨200B⟩\n');
  });

  test('[APP-11] CSV quotes what must be quoted, and disarms formulas', () => {
    expect(
      toCsv(
        ['a', 'b'],
        [
          ['x,"y"', -1],
          ['=1+1', null],
        ],
      ),
    ).toBe('a,b\r\n"x,""y""",-1\r\n\'=1+1,\r\n');
  });

  test('[CFG-2] The first sampling rule that matches applies', () => {
    const rules = [
      { operation: 'orders::*', rate: 1 },
      { operation: '*::noisy', service: 'shop', rate: 0 },
    ];
    const sampling = { traces: { default_ratio: 0.5, rules, parent_based: true } };
    expect(rateOf(sampling, 'orders::noisy', 'shop')).toEqual({ rate: 1, rule: 0 });
    expect(rateOf(sampling, 'stock::noisy', 'shop')).toEqual({ rate: 0, rule: 1 });
    expect(rateOf(sampling, 'stock::noisy', 'other')).toEqual({ rate: 0.5, rule: undefined });
  });
});
