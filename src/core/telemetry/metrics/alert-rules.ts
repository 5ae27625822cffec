// Alert rules: when one holds, and when it may act. Pure: values and time come in, verdicts go out.
//
// O4: a rule acts at most once per cooldown. Its state is kept by the name of the rule, apart from the rules
// themselves, so that a reloaded configuration finds it as it was.

/** The longest window of a rule: a day. */
export const ALERT_WINDOW_SECONDS_MAX = 86_400;

export const ALERT_OPERATORS = ['>', '>=', '<', '<=', '==', '!='] as const;
export type AlertOperator = (typeof ALERT_OPERATORS)[number];

/** The same in one word, as configuration files of other engines have it. */
export const OPERATOR_WORDS = {
  greaterthan: '>',
  greaterthanorequal: '>=',
  lessthan: '<',
  lessthanorequal: '<=',
  equal: '==',
  notequal: '!=',
} as const satisfies Record<string, AlertOperator>;

export type AlertAction =
  | { readonly type: 'log' }
  | { readonly type: 'webhook'; readonly url: string }
  | { readonly type: 'function'; readonly path: string };

export interface AlertRule {
  /** Unique. */
  readonly name: string;
  readonly metric: string;
  readonly threshold: number;
  readonly operator: AlertOperator;
  readonly windowSeconds: number;
  readonly cooldownSeconds: number;
  readonly enabled: boolean;
  readonly action: AlertAction;
}

/** The state of a rule between evaluations. */
export interface AlertState {
  readonly firing: boolean;
  /** Unix milliseconds. */
  readonly lastEvaluated: number | undefined;
  readonly lastTriggered: number | undefined;
  /** `undefined`: nothing was measured within the window. */
  readonly currentValue: number | undefined;
}

export const NEVER_EVALUATED: AlertState = {
  firing: false,
  lastEvaluated: undefined,
  lastTriggered: undefined,
  currentValue: undefined,
};

export interface AlertInput {
  readonly rule: AlertRule;
  readonly state: AlertState;
  /** The value of the metric within the rule's window. */
  readonly value: number | undefined;
}

export interface AlertVerdict {
  readonly name: string;
  readonly state: AlertState;
  /** Whether its action is due. */
  readonly acts: boolean;
}

export function evaluateAlerts(inputs: readonly AlertInput[], nowMs: number): AlertVerdict[] {
  return inputs.map(({ rule, state, value }) => evaluate(rule, state, value, nowMs));
}

function evaluate(rule: AlertRule, state: AlertState, value: number | undefined, nowMs: number): AlertVerdict {
  const firing = rule.enabled && value !== undefined && holds(value, rule.operator, rule.threshold);
  const acts = firing && isCool(state.lastTriggered, rule.cooldownSeconds * 1_000, nowMs);
  return {
    name: rule.name,
    acts,
    state: {
      firing,
      lastEvaluated: nowMs,
      lastTriggered: acts ? nowMs : state.lastTriggered,
      currentValue: value,
    },
  };
}

/** A clock that was set back must not silence a rule for the length of the jump: the cooldown restarts then. */
export function isCool(lastTriggered: number | undefined, cooldownMs: number, nowMs: number): boolean {
  return lastTriggered === undefined || nowMs - lastTriggered >= cooldownMs || lastTriggered - nowMs > cooldownMs;
}

export function holds(value: number, operator: AlertOperator, threshold: number): boolean {
  switch (operator) {
    case '>':
      return value > threshold;
    case '>=':
      return value >= threshold;
    case '<':
      return value < threshold;
    case '<=':
      return value <= threshold;
    case '==':
      return value === threshold;
    case '!=':
      return value !== threshold;
  }
}
