import { expect, test } from 'vitest';
import { closeCutJson } from '../../../../../src/core/telemetry/payloads/cut-json.ts';
import { randomJson } from '../../../../support/random/json-texts.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

test.each([
  ['{"a":1,"b":[1,2', '{"a":1,"b":[1]}', ['b', '1']],
  ['{"a":"some te', '{"a":"some te"}', ['a']],
  ['{"a":1,"lon', '{"a":1}', []],
  ['{"a":{"b":', '{"a":{}}', ['a', 'b']],
  ['[true,fal', '[true]', ['1']],
  ['["one\\\\', '["one\\\\"]', ['0']],
  ['["one\\', '["one"]', ['0']],
  ['["\\ud83d', '[""]', ['0']],
  ['["\ud83d', '[""]', ['0']],
  ['[', '[]', ['0']],
  ['12', undefined, []],
])('[O9] %s, of which the end is missing, is read as %s', (text, json, path) => {
  expect(closeCutJson(text)).toEqual({ json, path });
});

test('[O9] Any beginning of any JSON text becomes valid JSON, or none', () => {
  forEachSeed(300, (random) => {
    const text = randomJson(random).trimStart();
    const whole: unknown = JSON.parse(text);
    for (let end = 1; end < text.length; end++) {
      const { json } = closeCutJson(text.slice(0, end));
      if (json === undefined) continue;
      const cut: unknown = JSON.parse(json);
      expect(Array.isArray(cut)).toBe(Array.isArray(whole));
      expect(typeof cut).toBe(typeof whole);
    }
  });
});
