import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../../../src/cli/catalogue.ts';
import { CliFailure } from '../../../../src/cli/kernel/failures.ts';
import { createOutput } from '../../../../src/cli/text/output.ts';
import { asTyped, startedAs } from '../../../../src/cli/text/shell.ts';
import { createFakeTerminal } from './fake-terminal.ts';

const LINKED = '/home/ada/shop/node_modules/.bin/svc';
const FOLDER = '/home/ada/shop/node_modules/.bin';

describe('how the program was started', () => {
  test.each([
    ['npx svc', 'npx, which puts its folder on the PATH', LINKED, { npm_execpath: '/npm', PATH: `${FOLDER}:/bin` }],
    ['npx svc', 'its path in the project', LINKED, { PATH: '/bin' }],
    ['svc', 'its name, from a PATH with the folder of the project', LINKED, { PATH: `/bin:${FOLDER}/` }],
    ['svc', 'an installation for all', '/usr/local/bin/svc', { PATH: '/usr/local/bin' }],
    ['svc', 'an installation for all, in a script of npm', '/usr/local/bin/svc', { npm_execpath: '/npm' }],
    ['svc', 'its file', '/checkout/bin/svc.js', { npm_execpath: '/npm' }],
  ])('%s: %s', (typed, _how, entry, env) => {
    expect(startedAs(entry, env)).toBe(typed);
  });
});

test('[CLI-9] every command in a text is written as the user types it; the program name alone stays', () => {
  const text = 'Start svc: svc --config a, svc start or npx svc dev. See svc top; not my-svc list, svc-queue, svc 2.';
  expect(asTyped(text, 'svc', CATALOGUE.firstWords())).toBe(text);
  expect(asTyped(text, 'npx svc', CATALOGUE.firstWords())).toBe(
    'Start svc: npx svc --config a, npx svc start or npx svc dev. ' +
      'See npx svc top; not my-svc list, svc-queue, svc 2.',
  );
});

test.each([true, false])(
  '[CLI-9] notes, warnings and hints name commands that work as pasted (JSON: %s)',
  (jsonAsked) => {
    const terminal = createFakeTerminal({ startedAs: 'npx svc' });
    const plain = {
      format: 'table',
      quiet: false,
      verbose: false,
      showsWire: false,
      plain: false,
      colour: 'never',
      timeStyle: 'relative',
    } as const;
    const output = createOutput(terminal, { ...plain, jsonAsked }, ['queue']);
    output.note('1: svc queue list');
    output.warn('2: svc queue list');
    output.fail(new CliFailure({ code: 'USAGE', message: 'No', exitCode: 2, hint: '3: svc queue list' }));
    expect(terminal.stderr().match(/\d: npx svc queue list/g)).toHaveLength(3);
  },
);
