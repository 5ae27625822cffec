// JSON with its source kept: the console shows what is stored.

import { describe, expect, test } from 'vitest';
import {
  formatJsonSource,
  memberSource,
  minifyJsonSource,
  takeMember,
} from '../../../../../../src/console/web/kit/json/logic/json-member.ts';
import { JSON_ROWS_MAX, jsonRowSteps, jsonRows } from '../../../../../../src/console/web/kit/json/logic/json-rows.ts';
import {
  duplicateKeys,
  type JsonNode,
  JsonReader,
  jsonProblem,
  parseJsonSource,
  sourceOf,
} from '../../../../../../src/console/web/kit/json/logic/json-source.ts';
import { forEachSeed, RUNS_ALL_SEEDS } from '../../../../../support/random/seeded-random.ts';

const EXACT = '{"big":248480010225057793,"one":1.0,"10":1e400,"2":-0,"text":"a\\u0041\\n","list":[[],{}]}';

describe('JSON with its source', () => {
  test('[JSN-2] Numbers, order of keys and escapes survive formatting and compacting', () => {
    const laidOut = formatJsonSource(EXACT);
    expect(minifyJsonSource(laidOut)).toBe(EXACT);
    expect(laidOut).toContain('"big": 248480010225057793');
    expect(laidOut.indexOf('"10"')).toBeLessThan(laidOut.indexOf('"2"'));
    expect(memberSource(EXACT, 'one')).toBe('1.0');
  });

  test('[JSN-2] A member is found after values of every kind, and of two with one name the last', () => {
    const text = String.raw` { "a\"" : "}\\" , "b":[{"v":1},"]"], "v" : 1.0 ,"n":null, "v":{"v":[ "x\\\"" ]} } `;
    expect(JSON.parse(text).v).toEqual(JSON.parse(memberSource(text, 'v') ?? ''));
    expect([memberSource(text, 'a"'), memberSource(text, 'b'), memberSource(text, 'n')]).toEqual([
      String.raw`"}\\"`,
      '[{"v":1},"]"]',
      'null',
    ]);
    expect([memberSource(text, 'w'), memberSource('[1]', '0'), memberSource('{}', 'v')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('[JSN-3] The members around a long value are read without reading it', () => {
    expect(takeMember('{"key":"k","value":[1,{"value":2}],"size":9}', 'value')).toEqual({
      source: '[1,{"value":2}]',
      rest: '{"key":"k","value":null,"size":9}',
    });
    expect(takeMember('{"size":9}', 'value')).toEqual({ source: undefined, rest: '{"size":9}' });
  });

  test('[JSN-2] A repeated name is found in objects with many names and with few', () => {
    const names = Array.from({ length: 12 }, (_none, at) => `"n${at}":0`).join(',');
    expect(duplicateKeys(parseJsonSource(`{${names},"n3":1,"n11":1}`))).toEqual(['$.n3', '$.n11']);
    expect(duplicateKeys(parseJsonSource('{"a":0,"\\u0061":1}'))).toEqual(['$.a']);
  });

  test('[JSN-3] A text that is read token by token gives the same value as one read at once', () => {
    const reader = new JsonReader(EXACT);
    while (reader.read(1));
    expect(everyRow(reader.root, EXACT)).toEqual(everyRow(parseJsonSource(EXACT), EXACT));
  });

  test('[JSN-3] A value whose parts were dropped shows the same rows when it is opened again', () => {
    const long = `"${'x'.repeat(5_000)}"`;
    const text = `{"short":${EXACT},"long":[${EXACT},{"a":1,"a":[${long}]}, {} ],"end":[1,[2,{"b":null}]]}`;
    const reader = new JsonReader(text, { isSparing: true });
    while (reader.read(7));
    expect(everyRow(reader.root, text)).toEqual(everyRow(parseJsonSource(text), text));
    expect(duplicateKeys(reader.root)).toEqual(['$.long[1].a']);
    const found = jsonRows(reader.root, { isOpen: () => false, filter: '248480010225057793', text });
    expect(found.rows.map(({ path }) => path)).toEqual([
      '$',
      '$.short',
      '$.short.big',
      '$.long',
      '$.long[0]',
      '$.long[0].big',
    ]);
  });

  test('[JSN-2] A key that occurs twice is named by its path', () => {
    expect(duplicateKeys(parseJsonSource('{"a":[{"b c":1,"b c":2}],"a":0}'))).toEqual(['$.a[0]["b c"]', '$.a']);
  });

  test('accepts and refuses exactly what JSON.parse does', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\n"',
      '1',
      '-',
      '01',
      'true',
      'null',
      ' ',
      '"',
      '\\',
      '1e5',
      '.',
    ];
    let accepted = 0;
    forEachSeed(10_000, (random) => {
      const text = Array.from({ length: random.between(1, 6) }, () => random.pick(pieces)).join('');
      const isJson = isTaken(() => JSON.parse(text));
      expect([text, isTaken(() => parseJsonSource(text))]).toEqual([text, isJson]);
      if (isJson) accepted++;
    });
    if (RUNS_ALL_SEEDS) expect(accepted).toBeGreaterThan(200);
  });

  test('Depth has no limit', () => {
    const deep = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`;
    expect(parseJsonSource(deep).end).toBe(deep.length);
  });

  test('[JSN-1] Reports the line and column where the text stops being JSON', () => {
    expect(jsonProblem('{\n  "a": 1,\n  b\n}')).toBe('Unexpected "b" in line 3, column 3');
    expect(jsonProblem('')).toBeUndefined();
  });

  test('[JSN-4] A tree shows unfolded parts, and values that match the filter with their ancestors', () => {
    const text = '{"user":{"name":"Ada","tags":["x","y"]},"other":1}';
    const root = parseJsonSource(text);
    const folded = jsonRows(root, { isOpen: (_path, depth) => depth < 1, text });
    expect(folded.rows.map(({ path }) => path)).toEqual(['$', '$.user', '$.other']);
    const found = jsonRows(root, { isOpen: () => false, filter: 'y', text });
    expect(found.rows.map(({ path }) => path)).toEqual(['$', '$.user', '$.user.tags', '$.user.tags[1]']);
    const named = jsonRows(root, { isOpen: () => false, filter: 'tag', text });
    expect(named.rows.map(({ path }) => path).slice(2)).toEqual(['$.user.tags', '$.user.tags[0]', '$.user.tags[1]']);
  });

  test('[JSN-3] A large value is laid out in many small steps, up to the height that a browser can draw', () => {
    const text = `[${'1,'.repeat(JSON_ROWS_MAX)}1]`;
    const root = parseJsonSource(text);
    let steps = 0;
    for (const work = jsonRowSteps(root, { isOpen: () => true, text }); ; steps++) {
      const { done, value } = work.next();
      if (done !== true) continue;
      expect(value.rows).toHaveLength(JSON_ROWS_MAX);
      expect(value.isCut).toBe(true);
      break;
    }
    expect(steps).toBeGreaterThan(400);
  });

  test('[JSN-3] Unfolding and searching work at any depth', () => {
    const text = `${'['.repeat(20_000)}"here"${']'.repeat(20_000)}`;
    const root = parseJsonSource(text);
    expect(jsonRows(root, { isOpen: () => true, text }).rows).toHaveLength(20_001);
    expect(jsonRows(root, { isOpen: () => false, filter: 'here', text }).rows).toHaveLength(20_001);
    expect(jsonRows(root, { isOpen: () => false, filter: 'there', text }).rows).toEqual([]);
  });
});

function everyRow(root: JsonNode, text: string): unknown[] {
  const { rows } = jsonRows(root, { isOpen: () => true, text });
  return rows.map(({ node, ...row }) => ({ ...row, kind: node.kind, source: sourceOf(text, node) }));
}

function isTaken(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
