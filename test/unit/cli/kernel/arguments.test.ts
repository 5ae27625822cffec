import { describe, expect, test } from 'vitest';
import { parseArguments, peekFlags } from '../../../../src/cli/kernel/arguments.ts';
import { CliFailure } from '../../../../src/cli/kernel/failures.ts';
import { type FlagTable, OUTPUT_FLAGS } from '../../../../src/cli/kernel/flags.ts';

const TABLE = {
  file: { kind: 'text', placeholder: '<file>', help: '' },
  url: {
    ...{ kind: 'text', placeholder: '<address>', env: 'SVC_URL', fallback: 'ws://default', help: '' },
    mayListAddresses: true,
  },
  repeat: { kind: 'count', placeholder: '<n>', min: 1, max: 10, fallback: '1', help: '' },
  timeout: { kind: 'duration', placeholder: '<duration>', maxMs: 3_600_000, help: '' },
  output: { kind: 'choice', short: 'o', placeholder: '<format>', choices: ['json', 'csv'], help: '' },
  internal: { kind: 'switch', short: 'i', help: '' },
} as const satisfies FlagTable;

describe('forms of a flag', () => {
  test.each([
    [['--file', 'a.yaml'], { file: 'a.yaml' }],
    [['--file=a.yaml'], { file: 'a.yaml' }],
    [['--file=--odd'], { file: '--odd' }],
    [['--file', '-'], { file: '-' }],
    [['-o', 'json'], { output: 'json' }],
    [['-ojson'], { output: 'json' }],
    [['--internal'], { internal: true }],
    [['-i'], { internal: true }],
    [['--internal', '--no-internal'], { internal: false }],
    [['--repeat', '10'], { repeat: 10 }],
    [['--timeout', '1.5s'], { timeout: 1_500 }],
    [['--file', 'a', '--file', 'b'], { file: 'b' }],
  ])('[CLI-7] %j is parsed as %j', (args, expected) => {
    expect(parseArguments(args, TABLE, {}).flags).toMatchObject(expected);
  });

  test('[CLI-20] operands keep their order, and every word after -- is an operand', () => {
    const parsed = parseArguments(['a', '--internal', 'b=1', '--', '--file'], TABLE, {});
    expect(parsed.operands).toEqual(['a', 'b=1', '--file']);
    expect(parsed.flags.internal).toBe(true);
  });

  test('[CLI-7] a flag takes precedence over the environment, and the environment over the default', () => {
    const url = (args: string[], env: Record<string, string>) => parseArguments(args, TABLE, env).flags.url;
    expect(url([], {})).toBe('ws://default');
    expect(url([], { SVC_URL: 'ws://environment' })).toBe('ws://environment');
    expect(url([], { SVC_URL: '' })).toBe('ws://default');
    // Workers have the addresses of several engines there.
    expect(url([], { SVC_URL: 'ws://one?a=1,2,wss://two' })).toBe('ws://one?a=1,2');
    expect(url(['--url', 'ws://flag'], { SVC_URL: 'ws://environment' })).toBe('ws://flag');
  });
});

describe('invalid lines', () => {
  test.each([
    [['--fiel', 'x'], 'Unknown flag --fiel.', 'Did you mean --file?'],
    [['--no-file'], 'Unknown flag --no-file.', undefined],
    [['-x'], 'Unknown flag -x.', undefined],
    [['--file'], '--file needs a value: --file <file>.', undefined],
    [['--file', '--internal'], '--file needs a value: --file <file>.', undefined],
    [['--file='], '--file is empty: expected <file>.', undefined],
    [['--internal=yes'], "--internal takes no value, got 'yes'.", undefined],
    [['--repeat', '11'], "--repeat is '11': expected a whole number from 1 to 10.", undefined],
    [['--repeat', '1e1'], "--repeat is '1e1': expected a whole number from 1 to 10.", undefined],
    [['-o', 'xml'], "-o is 'xml': expected one of json, csv.", undefined],
    [['--timeout', '10'], /--timeout is '10': expected a duration such as/, undefined],
    [['--timeout', '2h'], /from 1ms to 1h/, undefined],
  ])('[CLI-8] %j is refused with the expected form', (args, message, hint) => {
    const failure = catchFailure(() => parseArguments(args, TABLE, {}));
    expect(failure.message).toEqual(expect.stringMatching(message instanceof RegExp ? message : exactly(message)));
    if (hint !== undefined) expect(failure.report.hint).toBe(hint);
    expect(failure.report.exitCode).toBe(2);
  });

  test('[CLI-7] an invalid value from the environment is reported with its variable', () => {
    const table = { repeat: { ...TABLE.repeat, env: 'SVC_REPEAT' } } as const;
    expect(() => parseArguments([], table, { SVC_REPEAT: 'x' })).toThrow(/^SVC_REPEAT is 'x'/);
  });

  test('[X22] a token on the command line is refused, with the two ways to pass one', () => {
    const failure = catchFailure(() => parseArguments(['--token=very-secret'], TABLE, {}));
    expect(failure.report.hint).toMatch(/--token-file <file>.*SVC_TOKEN/);
    expect(`${failure.message}${failure.report.hint}`).not.toContain('very-secret');
  });

  test('[CLI-3] the output flags are read from an otherwise invalid line', () => {
    const flags = peekFlags(['--fiel', '--json', '-o', 'xml', '--color=never'], OUTPUT_FLAGS);
    expect(flags).toMatchObject({ json: true, output: undefined, color: 'never' });
  });
});

function catchFailure(action: () => unknown): CliFailure {
  try {
    action();
  } catch (error) {
    if (error instanceof CliFailure) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
