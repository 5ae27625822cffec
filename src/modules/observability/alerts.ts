// Evaluates the alert rules: gets their values from the telemetry thread, lets a pool thread decide which rules hold,
// and runs their actions.
//
// What always holds:
//   - One evaluation at a time: two that overlap could both find that a rule's cooldown is over (O4).
//   - The state of a rule is kept by its name, so that rules can be replaced and keep their state (O4).
//   - An action is never repeated; one that fails is logged and counted.

import type { BuiltinAnswers } from '../../console/api/builtin-answers.ts';
import {
  type AlertAction,
  type AlertInput,
  type AlertRule,
  type AlertState,
  type AlertVerdict,
  NEVER_EVALUATED,
} from '../../core/telemetry/metrics/alert-rules.ts';
import { valueOfParts } from '../../core/telemetry/metrics/window-part.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { OutgoingClient } from '../../effects/outgoing.ts';
import { RAW_NULL, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import { errorLine } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Measured, MetricWindow } from '../../telemetry/tasks.ts';
import type { AlertTurns } from './alert-turns.ts';

export interface AlertsOptions {
  readonly rules: readonly AlertRule[];
  readonly measure: (windows: readonly MetricWindow[]) => Promise<readonly Measured[]>;
  /** What the other engines of a cluster measured. Absent: the engine is alone. */
  readonly measureElsewhere?: ((windows: readonly MetricWindow[]) => Promise<readonly Measured[]>) | undefined;
  /** Of the engines of a cluster one acts. */
  readonly turns?: Pick<AlertTurns, 'take'> | undefined;
  readonly evaluate: (inputs: readonly AlertInput[], nowMs: number) => Promise<readonly AlertVerdict[]>;
  readonly router: Pick<RouterPort, 'call' | 'count' | 'nowMs'>;
  readonly outgoing: Pick<OutgoingClient, 'send'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface TriggeredAlert {
  readonly name: string;
  readonly metric: string;
  readonly value: number;
  readonly threshold: number;
  readonly operator: string;
  readonly firing: boolean;
  readonly timestamp: number;
}

const EVALUATE_EVERY_MS = 10_000;
const FUNCTION_MS_MAX = 30_000;

export class Alerts {
  readonly #options: Omit<AlertsOptions, 'rules'>;
  #rules: readonly AlertRule[];
  readonly #states = new Map<string, AlertState>();
  readonly #webhooks: Webhooks;
  #last: Promise<unknown> = Promise.resolve();
  #stopEvaluating: (() => void) | undefined;

  constructor({ rules, ...options }: AlertsOptions) {
    this.#rules = rules;
    this.#options = options;
    this.#webhooks = new Webhooks(options.outgoing);
  }

  start(): void {
    if (!this.#rules.some(({ enabled }) => enabled)) return;
    this.#stopEvaluating = this.#options.clock.every(EVALUATE_EVERY_MS, () => {
      this.evaluate().catch((error: unknown) => this.#noteFailure('Alerts could not be evaluated', {}, error));
    });
  }

  stop(): void {
    this.#stopEvaluating?.();
  }

  /** Replaces the rules; the state of rules that remain is kept (O4). */
  exchange(rules: readonly AlertRule[]): void {
    this.stop();
    this.#rules = rules;
    this.start();
  }

  /** Compares all rules with the present values; returns the rules that hold. */
  evaluate(): Promise<readonly TriggeredAlert[]> {
    const done = this.#last.then(() => this.#evaluateOnce());
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** All rules, in the order of the file. */
  list() {
    const alerts = this.#rules.map((rule) => listedAlert(rule, this.#stateOf(rule)));
    return { alerts, firing_count: alerts.filter(({ firing }) => firing).length };
  }

  async #evaluateOnce(): Promise<TriggeredAlert[]> {
    const { evaluate, router } = this.#options;
    const rules = this.#rules;
    if (rules.length === 0) return [];
    const windows = rules.map(({ name, metric, windowSeconds }) => ({ rule: name, metric, windowSeconds }));
    const values = await this.#valuesOf(windows);
    const inputs = rules.map((rule) => ({ rule, state: this.#stateOf(rule), value: values.get(rule.name) }));
    const verdicts = new Map((await evaluate(inputs, router.nowMs)).map((verdict) => [verdict.name, verdict]));
    const firing: TriggeredAlert[] = [];
    for (const rule of rules) {
      const verdict = verdicts.get(rule.name);
      if (verdict === undefined) continue;
      const turn = verdict.acts ? await this.#takeTurn(rule) : false;
      const { state } = verdict;
      this.#states.set(rule.name, typeof turn === 'number' ? { ...state, lastTriggered: turn } : state);
      const alert = triggeredAlert(rule, state);
      if (alert === undefined) continue;
      firing.push(alert);
      if (turn === true) this.#act(rule.action, alert);
    }
    return firing;
  }

  async #valuesOf(windows: readonly MetricWindow[]): Promise<ReadonlyMap<string, number | undefined>> {
    const { measure, measureElsewhere } = this.#options;
    const measured = (await Promise.all([measure(windows), measureElsewhere?.(windows) ?? []])).flat();
    return new Map(
      windows.map(({ rule }) => {
        const parts = measured.flatMap((one) => (one.rule === rule && one.part !== undefined ? [one.part] : []));
        return [rule, valueOfParts(parts)];
      }),
    );
  }

  /** Whether this engine acts. Otherwise: when another one last did. */
  async #takeTurn(rule: AlertRule): Promise<true | number> {
    const { turns, router } = this.#options;
    return turns === undefined ? true : await turns.take(rule, router.nowMs);
  }

  #stateOf({ name }: AlertRule): AlertState {
    return this.#states.get(name) ?? NEVER_EVALUATED;
  }

  #act(action: AlertAction, { name: alert, metric, value, threshold, operator, timestamp }: TriggeredAlert): void {
    const message = { alert, metric, value, threshold, operator, timestamp };
    switch (action.type) {
      case 'log':
        return this.#options.logger.warn('An alert fires', { alert, metric, value, threshold, operator });
      case 'webhook':
        return this.#send(action.url, message);
      case 'function':
        return this.#call(action.path, message);
    }
  }

  #send(url: string, message: WebhookMessage): void {
    this.#webhooks
      .send(url, message)
      .catch((error: unknown) =>
        this.#noteFailure('The webhook of an alert failed', { alert: message.alert, webhook: url }, error),
      );
  }

  #call(functionId: string, message: WebhookMessage): void {
    const payload = Payload.ofText(rawJson({ ...message, firing: true }));
    this.#options.router.call({ functionId, payload, depth: 0, timeoutMs: FUNCTION_MS_MAX }, ({ error }) => {
      if (error === undefined) return;
      const fields = { alert: message.alert, function_id: functionId };
      this.#noteFailure('The function of an alert failed', fields, errorLine(error.asText() ?? RAW_NULL));
    });
  }

  #noteFailure(text: string, fields: Readonly<Record<string, unknown>>, error: unknown): void {
    this.#options.router.count('alerts.failed');
    this.#options.logger.error(text, { ...fields, error: error instanceof Error ? error.message : String(error) });
  }
}

function listedAlert({ name, metric, threshold, operator, enabled, ...rule }: AlertRule, state: AlertState) {
  return {
    name,
    metric,
    firing: state.firing,
    last_evaluated: state.lastEvaluated ?? null,
    last_triggered: state.lastTriggered ?? null,
    current_value: state.currentValue ?? null,
    threshold,
    operator,
    enabled,
    window_seconds: rule.windowSeconds,
    cooldown_seconds: rule.cooldownSeconds,
    action: rule.action.type,
  };
}

function triggeredAlert(
  { name, metric, threshold, operator }: AlertRule,
  state: AlertState,
): TriggeredAlert | undefined {
  const { firing, currentValue: value, lastEvaluated: timestamp } = state;
  if (!firing || value === undefined || timestamp === undefined) return undefined;
  return { name, metric, value, threshold, operator, firing, timestamp };
}

export function alertFunctions(alerts: Alerts, router: Pick<RouterPort, 'nowMs'>): BuiltinDefinition[] {
  return [
    {
      id: 'engine::alerts::list',
      description: 'Lists the alert rules, each with its last result',
      handle: (): BuiltinAnswers['engine::alerts::list'] => ({ ...alerts.list(), timestamp: router.nowMs }),
    },
    {
      id: 'engine::alerts::evaluate',
      description: 'Compares all alert rules with the present values, and runs their actions',
      async handle(): Promise<BuiltinAnswers['engine::alerts::evaluate']> {
        const triggered = await alerts.evaluate();
        return { evaluated: true, triggered_alerts: [...triggered], timestamp: router.nowMs };
      },
    },
  ];
}

export interface WebhookMessage {
  readonly alert: string;
  readonly metric: string;
  readonly value: number;
  readonly threshold: number;
  readonly operator: string;
  readonly timestamp: number;
}

const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const AT_A_TIME_MAX = 8;
const WAITING_MAX = 1_000;

/** Under the rules of outgoing requests, eight at a time, never twice (X16, O4). */
export class Webhooks {
  readonly #outgoing: Pick<OutgoingClient, 'send'>;
  readonly #waiting: (() => void)[] = [];
  #under = 0;

  constructor(outgoing: Pick<OutgoingClient, 'send'>) {
    this.#outgoing = outgoing;
  }

  /** Rejects when it was refused by the rules, by the network, or by the server's answer. */
  async send(url: string, message: WebhookMessage): Promise<void> {
    await this.#enter();
    try {
      const { status } = await this.#outgoing.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(message)),
        timeoutMs: TIMEOUT_MS,
        answerBytesMax: ANSWER_BYTES_MAX,
      });
      if (status < 200 || status > 299) throw new Error(`the server answered with status ${status}`);
    } finally {
      this.#under--;
      this.#waiting.shift()?.();
    }
  }

  async #enter(): Promise<void> {
    if (this.#under >= AT_A_TIME_MAX) {
      if (this.#waiting.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} webhooks wait already`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#under++;
  }
}
