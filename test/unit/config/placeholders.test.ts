import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  EXPANSION_CHARS_MAX,
  expandPlaceholders,
  placeholderNames,
  typeScalar,
} from '../../../src/config/placeholders.ts';

const env = { PORT: '3111', EMPTY: '', YES: 'true', HOST: 'localhost', NEXT: `\${PORT}`, SPACED: ' 7 ' };

function expand(value: unknown, quoted = false) {
  return expandPlaceholders(value, env, () => quoted);
}

function expanded(value: unknown, quoted = false): unknown {
  const { value: result, problems } = expand(value, quoted);
  expect(problems).toEqual([]);
  return result;
}

describe('a scalar that is exactly one placeholder', () => {
  test.each([
    [`\${PORT}`, 3111],
    [`\${YES}`, true],
    [`\${EMPTY}`, null],
    [`\${HOST}`, 'localhost'],
    [`\${SPACED}`, 7],
    [`\${UNSET:}`, null],
    [`\${UNSET:8080}`, 8080],
    [`\${UNSET:false}`, false],
    [`\${UNSET:~}`, null],
    [`\${UNSET:0x10}`, 16],
    [`\${UNSET:1e3}`, 1000],
    [`\${UNSET:redis://localhost:6379/0}`, 'redis://localhost:6379/0'],
    [`\${UNSET:a:b:c}`, 'a:b:c'],
    [`\${UNSET:127.0.0.1}`, '127.0.0.1'],
    [`\${UNSET:[1, 2]}`, '[1, 2]'],
    [`\${UNSET:\${PORT}`, `\${PORT`],
  ])('[X21] %s becomes %j, by the rules of YAML', (text, value) => {
    expect(expanded(text)).toBe(value);
  });

  test('[X21] a placeholder in quotes stays text', () => {
    expect(expanded(`\${PORT}`, true)).toBe('3111');
    expect(expanded(`\${EMPTY}`, true)).toBe('');
  });

  test('[X21] an empty variable counts as set', () => {
    expect(expanded(`\${EMPTY:8080}`)).toBe(null);
  });

  test('[X21] a placeholder inside the value of a variable is not expanded', () => {
    expect(expanded(`\${NEXT}`)).toBe(`\${PORT}`);
  });
});

describe('placeholders inside other text', () => {
  test.each([
    [`\${PORT}0`, '31110'],
    [` \${PORT}`, ' 3111'],
    [`\${PORT}\${PORT}`, '31113111'],
    [`http://\${HOST}:\${PORT}/\${UNSET:v1}`, 'http://localhost:3111/v1'],
    [`[\${EMPTY}]`, '[]'],
  ])('[X21] %s becomes the text %s', (text, value) => {
    expect(expanded(text)).toBe(value);
  });

  test.each(['', '$', '$PORT', '{PORT}', `\${`, `\${PORT`, `\${}`, `\${:x}`, '$ {PORT}', 'a}b', '5'])(
    '[X21] %j is not a placeholder and does not change',
    (text) => {
      expect(expanded(text)).toBe(text);
    },
  );
});

describe('values that hold scalars', () => {
  test('[X21] scalars are expanded at every depth, keys never', () => {
    const key = `\${HOST}`;
    const value = { [key]: [`\${PORT}`, { deep: `x\${PORT}` }], number: 5, flag: false, nothing: null };
    expect(expanded(value)).toEqual({ [key]: [3111, { deep: 'x3111' }], number: 5, flag: false, nothing: null });
  });

  test('[X19] keys such as __proto__ are plain data', () => {
    const value = expanded(JSON.parse(`{"__proto__": {"x": "\${PORT}"}}`));
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":3111}}');
    expect(Object.getPrototypeOf(value)).toBe(null);
  });

  test('[X21] only the scalars in quotes stay text', () => {
    const given = { a: [`\${PORT}`, `\${PORT}`] };
    const { value } = expandPlaceholders(given, env, (path) => path.join('/') === 'a/1');
    expect(value).toEqual({ a: [3111, '3111'] });
  });
});

describe('variables that are not set', () => {
  test('[X21] each is reported with its name and the path of its scalar', () => {
    const { problems } = expand({ a: `\${MISSING}`, b: [`x\${GONE}y\${MISSING}`, `\${PORT}`] });
    const message = (name: string) =>
      `The environment variable '${name}' is not set and the placeholder has no default. ` +
      `Set it, or write a default: \${${name}:value}.`;
    expect(problems).toEqual([
      { path: ['a'], at: 'value', message: message('MISSING') },
      { path: ['b', 0], at: 'value', message: message('GONE') },
      { path: ['b', 0], at: 'value', message: message('MISSING') },
    ]);
  });

  test('[X19] names such as constructor are not variables', () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      expect(expand(`\${${name}}`).problems).toHaveLength(1);
    }
  });
});

describe('the amount of work', () => {
  test('[X21] a long variable that is used thousands of times is refused at 1 MiB of text', () => {
    const long = { LONG: 'x'.repeat(EXPANSION_CHARS_MAX / 4) };
    const mention = `\${LONG}`;
    expect(expandPlaceholders(Array(4).fill(mention), long, () => false).problems).toEqual([]);
    expect(expandPlaceholders(Array(10_000).fill(mention), long, () => false).problems).toEqual([
      { path: [4], at: 'value', message: 'The placeholders of the file insert more than 1048576 characters together.' },
    ]);
  });

  test('[X21] a megabyte of unclosed placeholders is read once and stays text', () => {
    const text = `\${`.repeat(500_000);
    expect(expanded(text)).toBe(text);
    expect(placeholderNames(text)).toEqual([]);
  });
});

describe('the type of a plain scalar', () => {
  test.each([
    ...[
      '',
      '~',
      'null',
      'Null',
      'NULL',
      'nULL',
      'true',
      'True',
      'TRUE',
      'tRUE',
      'false',
      'False',
      'FALSE',
      'yes',
      'no',
    ],
    ...[
      '0',
      '-0',
      '+5',
      '007',
      '12345678901234567890',
      '0o17',
      '0x1F',
      '-0x1F',
      '0b1',
      '1_000',
      '1.5',
      '.5',
      '5.',
      '.',
    ],
    ...[
      '1e3',
      '1E-3',
      '1.e2',
      'e3',
      '1e',
      '.inf',
      '-.Inf',
      '+.INF',
      '.nan',
      '.NaN',
      'Infinity',
      'NaN',
      '1.2.3',
      '2024-01-01',
    ],
  ])('[X21] %j has the type that the YAML library gives it', (text) => {
    expect(typeScalar(text)).toEqual(parse(text, { version: '1.2', schema: 'core' }));
  });
});

describe('the names of variables', () => {
  test('[X22] they are found without reading the environment', () => {
    expect(placeholderNames(`a\${B}c\${D:e}f\${}`)).toEqual(['B', 'D']);
    expect(placeholderNames('plain')).toEqual([]);
  });
});
