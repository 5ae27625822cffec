// The threshold flags, two for each number that a check measures: `--depth-warn`, `--depth-critical`.

import type { CountFlag, DurationFlag } from '../../kernel/flags.ts';

const COUNT_MAX = 1_000_000_000;
const DURATION_MS_MAX = 30 * 24 * 3_600_000;

export function countThreshold(what: string): CountFlag {
  return { kind: 'count', placeholder: '<n>', min: 0, max: COUNT_MAX, help: what };
}

export function durationThreshold(what: string): DurationFlag {
  return { kind: 'duration', placeholder: '<duration>', maxMs: DURATION_MS_MAX, help: what };
}
