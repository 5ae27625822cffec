import { describe, expect, test } from 'vitest';
import { editDistance, nearestWords } from '../../../../src/core/config-fields/nearest.ts';

describe('the distance between two words', () => {
  test.each([
    ['', '', 0],
    ['port', 'port', 0],
    ['', 'port', 4],
    ['prot', 'port', 1],
    ['port', 'ports', 1],
    ['port', 'part', 1],
    ['kitten', 'sitting', 3],
    ['workers', 'wrokesr', 2],
  ])('[K4] %s and %s are %i edits apart', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
  });

  test('[K4] It is the same in both directions and never above the longer length', () => {
    const words = ['', 'a', 'ab', 'ba', 'svc-stream', 'svc-state', 'stream', 'threads', 'strict', 'limits'];
    for (const from of words) {
      for (const to of words) {
        expect(editDistance(from, to)).toBe(editDistance(to, from));
        expect(editDistance(from, to)).toBeLessThanOrEqual(Math.max(from.length, to.length));
      }
    }
  });
});

describe('the suggestion for a misspelt word', () => {
  test('[K4] The closest candidate comes first, equally close ones in the order given', () => {
    expect(nearestWords('svc-stat', ['svc-start', 'svc-stream', 'svc-state'])).toEqual([
      'svc-start',
      'svc-state',
      'svc-stream',
    ]);
  });

  test('[K4] A word in the wrong case is found', () => {
    expect(nearestWords('PORT', ['host', 'port'])).toEqual(['port']);
  });

  test('[K4] Nothing is suggested when no candidate is close, above all for very short words', () => {
    expect(nearestWords('id', ['ip', 'to'])).toEqual([]);
    expect(nearestWords('colour', ['port', 'host'])).toEqual([]);
    expect(nearestWords('anything', [])).toEqual([]);
  });

  test('[X21] A word of a million letters gets no suggestion', () => {
    expect(nearestWords('port'.repeat(250_000), ['port', 'ports'])).toEqual([]);
  });
});
