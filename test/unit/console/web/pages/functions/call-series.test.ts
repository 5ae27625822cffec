// Many calls of one function, summed up (FUN-9).

import { describe, expect, test } from 'vitest';
import {
  type CallOutcome,
  countIn,
  failuresOf,
  latenciesOf,
} from '../../../../../../src/console/web/pages/functions/call-series.ts';

const answered = (durationMs: number): CallOutcome => ({ durationMs, problem: undefined, traceId: undefined });
const failed = (problem: string, traceId?: string): CallOutcome => ({ durationMs: 1, problem, traceId });

describe('a series of calls', () => {
  test('[FUN-9] Latencies of answered calls are drawn as bars without holes', () => {
    const latencies = latenciesOf([...[0.5, 2, 4.9, 30].map(answered), failed('x')]);
    expect(latencies?.bars).toEqual([
      { fromMs: 0.5, toMs: 1, count: 1 },
      { fromMs: 1, toMs: 2, count: 0 },
      { fromMs: 2, toMs: 5, count: 2 },
      { fromMs: 5, toMs: 10, count: 0 },
      { fromMs: 10, toMs: 20, count: 0 },
      { fromMs: 20, toMs: 50, count: 1 },
    ]);
    expect(latencies).toMatchObject({ p50Ms: 4.9, maxMs: 30 });
    expect(latenciesOf([failed('x')])).toBeUndefined();
    expect(latenciesOf([answered(0)])?.bars).toEqual([{ fromMs: 0, toMs: 0.02, count: 1 }]);
    const everyPower = latenciesOf([0, 0.01, 0.1, 1, 10, 100, 1_000, 3_600_000].map(answered));
    expect(everyPower?.bars.reduce((sum, { count }) => sum + count, 0)).toBe(8);
  });

  test('[FUN-9] Failures are grouped by error, the most frequent first, each with a few traces', () => {
    const same = Array.from({ length: 7 }, (_, at) => failed('TIMEOUT: too late', `trace ${at}`));
    expect(failuresOf([failed('NOT_FOUND: gone'), answered(1), ...same])).toEqual([
      { problem: 'TIMEOUT: too late', count: 7, traceIds: [0, 1, 2, 3, 4].map((at) => `trace ${at}`) },
      { problem: 'NOT_FOUND: gone', count: 1, traceIds: [] },
    ]);
  });

  test('[FUN-9] The number of calls is a whole number within the limits', () => {
    const texts = ['1', '1000', ' 7 ', '0', '1001', '-1', '1.5', '1e2', ''];
    expect(texts.map((text) => countIn(text, 1_000))).toEqual([1, 1_000, 7, ...Array(6).fill(undefined)]);
  });
});
