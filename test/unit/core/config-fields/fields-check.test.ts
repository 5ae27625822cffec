import { describe, expect, test } from 'vitest';
import {
  anything,
  either,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  refused,
  type Schema,
  secretText,
  text,
} from '../../../../src/core/config-fields/fields.ts';
import { checkValue, quote } from '../../../../src/core/config-fields/fields-check.ts';

function messageOf(schema: Schema<unknown>, value: unknown): string | undefined {
  const checked = checkValue(fields({ it: schema }), { it: value });
  return checked.ok ? undefined : checked.problems.map(({ message }) => message).join(' | ');
}

describe('valid values', () => {
  test('[K4] Given values are kept and absent ones get their defaults', () => {
    const schema = fields({
      port: integer({ min: 0, max: 65_535, default: 49_134 }),
      host: text({ default: '127.0.0.1' }),
      ratio: number({ min: 0, max: 1, default: 1 }),
      strict: flag({ default: false }),
      mode: oneOf(['fifo', 'standard'], { default: 'standard' }),
      names: listOf(text(), { default: [] }),
      sizes: mapOf(integer(), { default: {} }),
      auth: optional(text()),
      nested: fields({ depth: integer({ default: 3 }) }),
    });
    const defaults = {
      port: 49_134,
      host: '127.0.0.1',
      ratio: 1,
      strict: false,
      mode: 'standard',
      names: [],
      sizes: {},
      auth: undefined,
      nested: { depth: 3 },
    };
    expect(checkValue(schema, {})).toEqual({ ok: true, value: defaults });
    const given = {
      port: 0,
      host: '::1',
      ratio: 0.5,
      strict: true,
      mode: 'fifo',
      names: ['a'],
      sizes: { b: 2 },
      auth: 'app::auth',
      nested: { depth: 4 },
    };
    expect(checkValue(schema, given)).toEqual({ ok: true, value: given });
  });

  test('[K4] An empty value is absent if the field is optional or has a default', () => {
    const schema = fields({ port: integer({ default: 1 }), auth: optional(text()) });
    expect(checkValue(schema, { port: null, auth: null })).toEqual({ ok: true, value: { port: 1, auth: undefined } });
  });

  test('[K4] An empty group of a required field has its defaults', () => {
    const schema = fields({ limits: fields({ connections: integer({ default: 1 }) }) });
    expect(checkValue(schema, { limits: null })).toEqual({ ok: true, value: { limits: { connections: 1 } } });
  });

  test('[X5] An empty group that is optional is refused, not treated as absent', () => {
    expect(messageOf(optional(fields({ expose: flag({ default: false }) })), null)).toBe(
      'Must be a map, found nothing.',
    );
  });

  test('[X19] Maps have no prototype, and a key such as __proto__ is data', () => {
    const checked = checkValue(mapOf(integer()), JSON.parse('{"__proto__": 1, "constructor": 2}'));
    expect(checked.ok && Object.getPrototypeOf(checked.value)).toBe(null);
    expect(checked.ok && Object.entries(checked.value)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
  });

  test('[X19] A declared key is not found in a prototype', () => {
    expect(checkValue(fields({ constructor: optional(text()) }), {})).toEqual({ ok: true, value: {} });
  });
});

describe('invalid values', () => {
  const misfits: readonly (readonly [Schema<unknown>, unknown, string])[] = [
    [integer({ min: 0, max: 65_535 }), 70_000, 'Must be an integer from 0 to 65535, found the number 70000.'],
    [integer({ min: 0, max: 65_535 }), -1, 'Must be an integer from 0 to 65535, found the number -1.'],
    [integer({ min: 1 }), 0, 'Must be an integer of at least 1, found the number 0.'],
    [integer({ max: 9 }), 10, 'Must be an integer of at most 9, found the number 10.'],
    [integer(), 1.5, 'Must be an integer, found the number 1.5.'],
    [integer(), 2 ** 53, 'Must be an integer, found the number 9007199254740992.'],
    [integer(), Number.NaN, 'Must be an integer, found the number NaN.'],
    [integer(), null, 'Must be an integer, found nothing.'],
    [integer(), [1], 'Must be an integer, found a list.'],
    [integer(), {}, 'Must be an integer, found a map.'],
    [integer(), true, 'Must be an integer, found true.'],
    [integer(), 'abc', "Must be an integer, found the text 'abc'."],
    [integer({ max: 9 }), '8', "Must be an integer of at most 9, found the text '8'. Remove the quotes around it."],
    [integer({ max: 9 }), '10', "Must be an integer of at most 9, found the text '10'."],
    [number({ min: 0, max: 1 }), Number.POSITIVE_INFINITY, 'Must be a number from 0 to 1, found the number Infinity.'],
    [number(), '0.5', "Must be a number, found the text '0.5'. Remove the quotes around it."],
    [flag(), 'yes', "Must be true or false, found the text 'yes'."],
    [flag(), 'true', "Must be true or false, found the text 'true'. Remove the quotes around it."],
    [flag(), 1, 'Must be true or false, found the number 1.'],
    [text(), '', "Must be non-empty text, found the text ''."],
    [text(), 5, 'Must be non-empty text, found the number 5. Put quotes around it.'],
    [text(), false, 'Must be non-empty text, found false. Put quotes around it.'],
    [text({ bytesMin: 0, bytesMax: 3 }), 'éé', "Must be text of at most 3 bytes, found the text 'éé'."],
    [text({ bytesMin: 2, bytesMax: 3 }), 'x', "Must be text of 2 to 3 bytes, found the text 'x'."],
    [oneOf(['fifo', 'standard']), 'fife', "Must be 'fifo' or 'standard', found the text 'fife'."],
    [listOf(text()), 'a', "Must be a list, found the text 'a'."],
    [mapOf(text()), ['a'], 'Must be a map, found a list.'],
    [fields({}), 'a', "Must be a map, found the text 'a'."],
    [
      either(integer({ min: 1 }), oneOf(['auto'])),
      0,
      "Must be an integer of at least 1 or 'auto', found the number 0.",
    ],
    [either(oneOf(['a']), mapOf(oneOf(['a']))), ['a'], "Must be 'a' or a map, found a list."],
    [refused('Not in this version yet.'), 1, 'Not in this version yet.'],
  ];

  test.each(misfits.map(([schema, value, message]) => ({ schema, value, message })))(
    '[K4] An invalid value is refused with: $message',
    ({ schema, value, message }) => {
      expect(messageOf(schema, value)).toBe(message);
    },
  );

  test('[K4] All problems are found at once, each with its own path', () => {
    const schema = fields({
      port: integer({ min: 0 }),
      list: listOf(integer()),
      map: mapOf(flag()),
      nested: fields({ deep: fields({ on: flag() }) }),
      mode: either(oneOf(['a']), mapOf(oneOf(['a']))),
    });
    const checked = checkValue(
      schema,
      {
        port: 'x',
        list: [1, 'b', 3, null],
        map: { ok: true, 'not ok': 0 },
        nested: { deep: { of: 1 } },
        mode: { k: 'b' },
      },
      { path: ['workers', 2, 'config'] },
    );
    const found = checked.ok ? [] : checked.problems.map(({ path, at }) => `${path.slice(3).join('/')} ${at}`);
    expect(found).toEqual([
      'port value',
      'list/1 value',
      'list/3 value',
      'map/not ok value',
      'nested/deep/of key',
      'nested/deep/on key',
      'mode/k value',
    ]);
    expect(checked.ok || checked.problems.every(({ path }) => path.slice(0, 3).join() === 'workers,2,config')).toBe(
      true,
    );
  });

  test('[K4] A missing key is reported with its type, even inside an absent group', () => {
    const checked = checkValue(fields({ adapter: fields({ url: text() }) }), {});
    expect(checked).toEqual({
      ok: false,
      problems: [{ path: ['adapter', 'url'], at: 'key', message: "Missing 'url': must be non-empty text." }],
    });
  });
});

describe('unknown keys', () => {
  const schema = fields({ port: integer({ default: 1 }), host: text({ default: 'h' }), proto: refused('Not yet.') });

  test.each([
    [{ prot: 1 }, "Unknown key 'prot'. Did you mean 'port'?"],
    [{ Host: 1 }, "Unknown key 'Host'. Did you mean 'host'?"],
    [{ colour: 1 }, "Unknown key 'colour'. Known keys: port, host."],
    [{ toString: 1 }, "Unknown key 'toString'. Known keys: port, host."],
    [JSON.parse('{"__proto__": 1}'), "Unknown key '__proto__'. Known keys: port, host."],
  ])('[K4] %o is refused with the nearest valid key, or all of them', (value, message) => {
    const checked = checkValue(schema, value);
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.message)).toEqual([message]);
  });

  test('[K4] A group without keys reports that it accepts none', () => {
    expect(messageOf(fields({}), { a: 1 })).toBe("Unknown key 'a'. No key is known here.");
  });

  test('[K4] A value that another schema checks is not checked here', () => {
    const value = { anything: [{ at: 'all' }] };
    expect(checkValue(anything(), value)).toEqual({ ok: true, value });
  });
});

describe('secrets in messages', () => {
  test('[X22] The value of a secret field is not quoted, whatever is wrong with it', () => {
    const schema = fields({ pin: secretText({ bytesMin: 32 }), api_key: text({ bytesMax: 3 }), token: flag() });
    for (const secret of ['hunter2', 31337]) {
      const checked = checkValue(schema, { pin: secret, api_key: secret, token: secret });
      expect(checked.ok).toBe(false);
      expect(JSON.stringify(checked)).not.toContain(String(secret));
    }
  });

  test('[X22] Fields below a secret key, and those that the caller hides, are not quoted either', () => {
    const schema = fields({ credentials: fields({ user: integer() }), port: integer() });
    const value = { credentials: { user: 'hunter2' }, port: 'hunter3' };
    const checked = checkValue(schema, value, { isHidden: (path) => path.join() === 'port' });
    expect(checked.ok || checked.problems.map(({ isHidden }) => isHidden)).toEqual([true, true]);
    expect(JSON.stringify(checked)).not.toContain('hunter');
  });

  test('[X22] A quoted address has no user info and no query', () => {
    expect(messageOf(integer(), 'redis://u:pw@host?x=y')).toBe(
      "Must be an integer, found the text 'redis://[redacted]@host?[redacted]'.",
    );
  });

  test('[CLI-5] Quoted text is shortened and cannot control a terminal', () => {
    expect(quote('\u001b[31mred\u202e')).toBe("'\ufffd[31mred\ufffd'");
    expect(quote('x'.repeat(1000))).toBe(`'${'x'.repeat(60)}…'`);
  });
});
