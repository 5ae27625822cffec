import { describe, expect, test } from 'vitest';
import { judge, judgeMeasure } from '../../../../src/cli/commands/check/monitor.ts';

const DEPTH = { name: 'depth', unit: 'count' } as const;

describe('a check', () => {
  test('[CLI-31] the value of a threshold reaches it, and the critical threshold takes precedence', () => {
    const at = (value: number) => judgeMeasure({ ...DEPTH, value, warn: 10, critical: 20 }).level;
    expect([9, 10, 19, 20, 21].map(at)).toEqual(['ok', 'warning', 'warning', 'critical', 'critical']);
    expect(judgeMeasure({ ...DEPTH, value: 1, atLeast: 2 })).toEqual({
      level: 'critical',
      text: 'depth is 1, fewer than 2',
    });
    expect(judgeMeasure({ ...DEPTH, value: 1_000_000 }).level).toBe('ok');
  });

  test('[CLI-31] the worst finding decides the level and comes first in the text', () => {
    const paused = { level: 'warning', text: 'paused' } as const;
    const verdict = judge([paused], [{ ...DEPTH, value: 30, critical: 20 }], 'well');
    expect(verdict).toMatchObject({ level: 'critical', text: 'depth is 30, critical from 20; paused' });
    expect(judge([{ level: 'unknown', text: '?' }, paused], [], 'well').level).toBe('unknown');
    expect(judge([], [{ ...DEPTH, value: 1 }], 'well')).toMatchObject({ level: 'ok', text: 'well' });
  });
});
