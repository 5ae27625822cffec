// Flags of the commands that start and stop workers.

import type { FlagTable, FlagValues } from '../../kernel/flags.ts';

const HOUR_MS = 3_600_000;

export const WAIT_FLAGS = {
  wait: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '120s',
    maxMs: HOUR_MS,
    help: 'Time limit to install, start and register.',
  },
  'no-wait': { kind: 'switch', help: 'Do not wait until the worker has registered.' },
} as const satisfies FlagTable;

export const DRAIN_FLAGS = {
  drain: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '25s',
    maxMs: HOUR_MS,
    help: 'Time for its handlers to finish.',
  },
  force: { kind: 'switch', help: 'Kill it immediately.' },
} as const satisfies FlagTable;

export function waitMsOf(flags: FlagValues<typeof WAIT_FLAGS>): number {
  return flags['no-wait'] ? 0 : flags.wait;
}

export function drainMsOf(flags: FlagValues<typeof DRAIN_FLAGS>): number {
  return flags.force ? 0 : flags.drain;
}
