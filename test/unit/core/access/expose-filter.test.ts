import { describe, expect, test } from 'vitest';
import { type ExposeEntry, exposes, readExposeEntry } from '../../../../src/core/access/expose-filter.ts';

describe('entries of expose_functions', () => {
  test.each([
    ['match("api::*")'],
    ["match('api::*')"],
    [' match( "api::*" ) '],
    [{ match: 'api::*' }],
    [{ match: 'api::*', namespace: 'default' }],
  ])('[X5] %j is a pattern on the id', (entry) => {
    expect(isExposed(entry, 'api::users')).toBe(true);
    expect(isExposed(entry, 'db::users')).toBe(false);
  });

  test.each<[ExposeEntry, string]>([
    ['api::*', 'Must be match("…")'],
    ['*', 'Must be match("…")'],
    ['match(api::*)', 'Must be match("…")'],
    ['match("api::*\')', 'Must be match("…")'],
    ['match("a"b")', 'Must be match("…")'],
    ['Match("api::*")', 'Must be match("…")'],
    ['match("")', 'The pattern is empty'],
    [`match("${'*'.repeat(17)}")`, '17 stars'],
    [`match("${'x'.repeat(257)}")`, '257 bytes'],
    [{}, "Give either 'match' or 'metadata'"],
    [{ match: 'a', metadata: { b: 1 } }, "Give either 'match' or 'metadata'"],
    [{ metadata: {} }, 'at least one key'],
    [{ metadata: { tier: 'match("")' } }, "The pattern for 'tier' is empty"],
    [{ match: 'a', namespace: 'staging' }, "no namespace 'staging'"],
  ])('[X5] %j is refused', (entry, reason) => {
    const read = readExposeEntry(entry);
    expect(read.ok ? 'accepted' : read.reason).toContain(reason);
  });
});

describe("the engine's own functions", () => {
  test.each([
    ['match("*")', false],
    ['match("e*")', false],
    ['match("*::functions::list")', false],
    ['match("engine*")', false],
    ['match("engine::*")', true],
    ['match("engine::functions::*")', true],
    ['match("engine::functions::list")', true],
  ])('[X8] %s exposes engine::functions::list: %s', (entry, isReached) => {
    expect(isExposed(entry, 'engine::functions::list')).toBe(isReached);
  });

  test('[X8] a star exposes everything else, ids that only look like those of the engine too', () => {
    for (const id of ['state::get', 'Engine::x', 'engine:x', ' engine::x']) {
      expect(isExposed('match("*")', id)).toBe(true);
    }
  });
});

describe('filters on metadata', () => {
  const filter: ExposeEntry = { metadata: { public: true, tier: 'match("free-*")', tags: ['a', { b: 1 }] } };
  const fitting = { public: true, tier: 'free-1', tags: ['a', { b: 1 }], more: 1 };

  test('[X5] a function is exposed if it has every key with an equal value', () => {
    expect(isExposed(filter, 'f', [fitting])).toBe(true);
    expect(isExposed(filter, 'f', [{ ...fitting, public: 'true' }])).toBe(false);
    expect(isExposed(filter, 'f', [{ ...fitting, tier: 'paid' }])).toBe(false);
    expect(isExposed(filter, 'f', [{ ...fitting, tags: ['a', { b: 1, c: 2 }] }])).toBe(false);
    expect(isExposed(filter, 'f', [{ public: true }])).toBe(false);
  });

  test.each([[[]], [[undefined]], [[null]], [['public']], [[[true]]]])('[X5] metadata %j exposes nothing', (found) => {
    expect(isExposed({ metadata: { public: true } }, 'f', found)).toBe(false);
  });

  test('[X5] a function of several workers is exposed if the metadata of each worker matches', () => {
    const open = { public: true };
    expect(isExposed({ metadata: open }, 'f', [open, open])).toBe(true);
    expect(isExposed({ metadata: open }, 'f', [open, undefined])).toBe(false);
  });

  test('[X19] keys such as constructor and __proto__ are ordinary keys', () => {
    expect(isExposed({ metadata: { constructor: 'x' } }, 'f', [{}])).toBe(false);
    const wanted = JSON.parse('{"__proto__": 1}');
    expect(isExposed({ metadata: wanted }, 'f', [{}])).toBe(false);
    expect(isExposed({ metadata: wanted }, 'f', [JSON.parse('{"__proto__": 1}')])).toBe(true);
  });
});

function isExposed(entry: ExposeEntry, functionId: string, metadata: readonly unknown[] = []): boolean {
  const read = readExposeEntry(entry);
  if (!read.ok) throw new Error(read.reason);
  return exposes(read.value, functionId, metadata);
}
