// The address as the state of a page.

import { describe, expect, test } from 'vitest';
import {
  param,
  parseAddress,
  printAddress,
  readSearch,
  writeSearch,
} from '../../../../../src/console/web/data/search.ts';
import { forEachSeed, type SeededRandom } from '../../../../support/random/seeded-random.ts';

const SHAPE = {
  q: param.text(),
  id: param.optional(),
  group: param.flag(true),
  min: param.number(),
  sort: param.choice(['id', 'calls']),
  sev: param.list(['warn', 'error']),
};

describe('search parameters', () => {
  test('Every state can be restored from its address', () => {
    const letters = ['a', ' ', '&', '=', '%', '+', '#', '/', ':', '"', 'é', '😀', '1', '‮'];
    const word = (random: SeededRandom): string =>
      Array.from({ length: random.below(6) }, () => random.pick(letters)).join('');
    forEachSeed(1_000, (random) => {
      const state = {
        q: word(random),
        id: random.chance(50) ? undefined : word(random),
        group: random.chance(50),
        min: random.chance(50) ? undefined : random.below(1e6) / 100,
        sort: random.chance(50) ? ('id' as const) : ('calls' as const),
        sev: (['warn', 'error'] as const).filter(() => random.chance(50)),
      };
      const address = printAddress(writeSearch(SHAPE, state));
      expect(readSearch(SHAPE, parseAddress(address.slice(1)))).toEqual(state);
    });
  });

  test('A page in its default state has a plain address', () => {
    expect(printAddress(writeSearch(SHAPE, readSearch(SHAPE, {})))).toBe('');
  });

  test('Invalid parts of an address are left out and never reach the page', () => {
    const search = readSearch(SHAPE, parseAddress('sort=rm&min=many&group=yes&sev=warn&sev=loud'));
    expect(search).toMatchObject({ sort: 'id', min: undefined, group: true, sev: ['warn'] });
  });
});
