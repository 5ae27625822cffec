// String formats, for a form.

import { expect, test } from 'vitest';
import { compileJsonSchema } from '../../../../src/protocol/json-schema/compile.ts';
import { FORMATS } from '../../../../src/protocol/json-schema/formats.ts';

const LONG = 'x'.repeat(64);

const TABLE: [format: string, good: string[], bad: string[]][] = [
  ['date', ['2024-02-29', '2026-12-31'], ['2023-02-29', '2026-13-01', '2026-04-31', '2026-1-1', 'today']],
  ['time', ['12:00:00Z', '12:00:00.5+05:30', '23:59:60Z', '00:59:60+01:00'], ['12:00:00', '24:00:00Z', '12:59:60Z']],
  ['date-time', ['2026-01-31T12:00:00Z', '2026-01-31 12:00:00+01:00'], ['2026-01-31', '2026-02-30T12:00:00Z']],
  ['duration', ['P1Y2M3DT4H5M6S', 'PT1M', 'P2W'], ['P', 'PT', '1Y', 'P1YT', 'P1Y1D', 'P1W1D']],
  ['email', ['a@b', 'a.b+c@d.org', '"a b"@c', 'a@[1.2.3.4]'], ['an address', '.a@b', 'a..b@c', '@b', `${LONG}x@b`]],
  ['hostname', ['localhost', 'a-1.example.org'], ['-a', 'a_b', 'a..b', `${LONG}.org`, '']],
  ['ipv4', ['0.0.0.0', '255.255.255.255'], ['256.1.1.1', '1.2.3', '1.2.3.4.', '01.2.3.4']],
  ['ipv6', ['::', '::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4'], ['1:2:3:4:5:6:7', '1::2::3', ':::', '12345::', '']],
  ['uri', ['https://example.org/x?y#z', 'mailto:a@b', 'urn:a:b'], ['/x', 'example', 'http://a b', 'http://a/%zz']],
  ['url', ['https://example.org', 'http://localhost:80'], ['mailto:a@b', 'example.org']],
  ['uri-reference', ['', '../x', '?x', '#y', 'https://example.org'], ['a b', '%zz', '#a#b']],
  ['uri-template', ['/x/{y}', '{?a,b*}', '{+c:3}'], ['{', '{}', 'a b', '{a-b}']],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123e4567e89b12d3a456426614174000', 'x']],
  ['regex', ['a+', '\\p{L}'], ['(', '[']],
  ['json-pointer', ['', '/a/0', '/a~1b'], ['a', '/a~2']],
  ['relative-json-pointer', ['0', '1/a', '0#'], ['01', '/a']],
];

test.each(TABLE)('[FUN-6] format %s', (format, good, bad) => {
  const check = compileJsonSchema({ format }, { formats: FORMATS });
  for (const text of good) expect(check(text), text).toEqual([]);
  for (const text of bad)
    expect(check(text), text).toEqual([{ message: `must have the format "${format}"`, path: [] }]);
  expect(check(5)).toEqual([]);
});

test('[FUN-6] every format has its row, and an unknown one is an annotation', () => {
  expect(TABLE.map(([format]) => format).sort()).toEqual([...FORMATS.keys()].sort());
  expect(compileJsonSchema({ format: 'colour' }, { formats: FORMATS })('x')).toEqual([]);
});
