// Apart from `monitor.ts`, which imports the engine's connection: help texts load without it.

/** Exit codes of these commands, instead of those of CLI-4. */
export const MONITOR_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'Everything is fine.'],
  ['1', 'Warning: a warning threshold is reached.'],
  ['2', 'Critical: down, missing, or a critical threshold is reached.'],
  ['3', 'Unknown: the check could not run, or was called with a wrong argument.'],
];
