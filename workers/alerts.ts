// Decides which alert rules hold and which may act. Keeps nothing: rules, values and clocks come with each task.

import { type AlertInput, type AlertVerdict, evaluateAlerts } from '../src/core/telemetry/alert-rules.ts';

interface AlertTask {
  readonly inputs: readonly AlertInput[];
  readonly nowMs: number;
}

export default function runAlerts({ inputs, nowMs }: AlertTask): AlertVerdict[] {
  return evaluateAlerts(inputs, nowMs);
}
