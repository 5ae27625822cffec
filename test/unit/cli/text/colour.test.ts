import { describe, expect, test } from 'vitest';
import { createPainter, mayColour } from '../../../../src/cli/text/colour.ts';

describe('colour', () => {
  test.each([
    ['auto', {}, true, true],
    ['auto', {}, false, false],
    ['auto', { NO_COLOR: '1' }, true, false],
    ['auto', { NO_COLOR: '' }, true, true],
    ['auto', { TERM: 'dumb' }, true, false],
    ['auto', { CI: 'true' }, true, false],
    ['auto', { FORCE_COLOR: '1' }, false, true],
    ['auto', { FORCE_COLOR: '0' }, true, false],
    ['auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['always', { NO_COLOR: '1' }, false, true],
    ['never', { FORCE_COLOR: '1' }, true, false],
  ] as const)('[CLI-5] with --color %s, %j and terminal %s, colour is %s', (mode, env, isTerminal, expected) => {
    expect(mayColour({ mode, env, isTerminal })).toBe(expected);
    const painted = createPainter({ mode, env, isTerminal }).red('x');
    expect(painted).toBe(expected ? '\u001b[31mx\u001b[39m' : 'x');
  });
});
