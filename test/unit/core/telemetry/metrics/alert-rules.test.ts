import { describe, expect, test } from 'vitest';
import {
  ALERT_OPERATORS,
  type AlertRule,
  type AlertState,
  evaluateAlerts,
  holds,
  NEVER_EVALUATED,
} from '../../../../../src/core/telemetry/metrics/alert-rules.ts';

const RULE: AlertRule = {
  ...{ name: 'r', metric: 'm', threshold: 5, operator: '>', windowSeconds: 60, cooldownSeconds: 60, enabled: true },
  action: { type: 'log' },
};

function evaluate(value: number | undefined, nowMs: number, state: AlertState = NEVER_EVALUATED, rule = RULE) {
  const [verdict] = evaluateAlerts([{ rule, state, value }], nowMs);
  if (verdict === undefined) throw new Error('A rule has no verdict');
  return verdict;
}

describe('alert rules', () => {
  test('support every operator', () => {
    const held = ALERT_OPERATORS.map((operator) => [4, 5, 6].map((value) => holds(value, operator, 5)));
    expect(held).toEqual([
      [false, false, true],
      [false, true, true],
      [true, false, false],
      [true, true, false],
      [false, true, false],
      [true, false, true],
    ]);
  });

  test('[O4] act once per cooldown, even if they stopped firing in between', () => {
    const first = evaluate(6, 1_000);
    expect(first).toMatchObject({ acts: true, state: { firing: true, lastTriggered: 1_000, currentValue: 6 } });
    const quiet = evaluate(1, 20_000, first.state);
    expect(quiet).toMatchObject({ acts: false, state: { firing: false, lastTriggered: 1_000 } });
    const again = evaluate(7, 60_999, quiet.state);
    expect(again).toMatchObject({ acts: false, state: { firing: true, lastTriggered: 1_000 } });
    expect(evaluate(7, 61_000, again.state)).toMatchObject({ acts: true, state: { lastTriggered: 61_000 } });
  });

  test('[O4] keep their cooldown when they are reloaded, and act after a clock was set back', () => {
    const { state } = evaluate(6, 10_000_000);
    expect(evaluate(6, 10_001_000, state, { ...RULE, threshold: 1 }).acts).toBe(false);
    expect(evaluate(6, 1_000, state).acts).toBe(true);
  });

  test('do not fire without a measurement, or when they are disabled', () => {
    expect(evaluate(undefined, 1_000)).toMatchObject({ acts: false, state: { firing: false, lastEvaluated: 1_000 } });
    expect(evaluate(6, 1_000, NEVER_EVALUATED, { ...RULE, enabled: false }).state.firing).toBe(false);
  });
});
