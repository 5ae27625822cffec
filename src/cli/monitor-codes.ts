// Beside `monitor.ts`, which knows the engine's connection: help texts load without it.

/** Exit codes of these commands, in the place of CLI-4. */
export const MONITOR_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'Everything is well.'],
  ['1', 'Warning: a threshold of a warning is reached.'],
  ['2', 'Critical: it is down, missing, or a critical threshold is reached.'],
  ['3', 'Unknown: the check could not be made, or was called wrongly.'],
];
