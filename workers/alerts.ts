// Decides which alert rules fire and which may act. It has no state: rules, values and clocks come with each task.

import { type AlertInput, type AlertVerdict, evaluateAlerts } from '../src/core/telemetry/metrics/alert-rules.ts';

interface AlertTask {
  readonly inputs: readonly AlertInput[];
  readonly nowMs: number;
}

export default function runAlerts({ inputs, nowMs }: AlertTask): AlertVerdict[] {
  return evaluateAlerts(inputs, nowMs);
}
