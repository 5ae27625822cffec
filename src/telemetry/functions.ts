// Every function of the telemetry thread, as an explicit list.

import { expositionFunctions } from './functions/exposition.ts';
import { logFunctions } from './functions/logs.ts';
import { metricFunctions } from './functions/metrics.ts';
import { traceFunctions } from './functions/traces.ts';
import type { TelemetryFunction } from './world.ts';

const ALL: readonly TelemetryFunction[] = [
  ...traceFunctions,
  ...logFunctions,
  ...metricFunctions,
  ...expositionFunctions,
];

export const FUNCTIONS: ReadonlyMap<string, TelemetryFunction> = new Map<string, TelemetryFunction>(
  ALL.map((one) => [one.id, one]),
);
