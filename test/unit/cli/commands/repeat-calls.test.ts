import { describe, expect, test } from 'vitest';
import { percentile, repeatCalls } from '../../../../src/cli/commands/call/repeat-calls.ts';

describe('repeated calls', () => {
  test('[CLI-21] makes the given number of calls, never more at the same time than --concurrency', async () => {
    let running = 0;
    let runningMax = 0;
    const results: unknown[] = [];
    let clockMs = 0;
    const outcome = await repeatCalls({
      repeat: 10,
      concurrency: 3,
      call: async () => {
        running += 1;
        runningMax = Math.max(runningMax, running);
        await Promise.resolve();
        running -= 1;
        return results.length;
      },
      onResult: (result) => results.push(result),
      codeOf: () => 'X',
      elapsedMs: () => {
        clockMs += 1;
        return clockMs;
      },
    });
    expect(runningMax).toBe(3);
    expect(results).toHaveLength(10);
    expect(outcome).toMatchObject({ calls: 10, succeeded: 10, failed: 0, firstError: undefined });
    expect(outcome.durationMs).toBe(clockMs - 1);
  });

  test('[CLI-21] failed calls are counted by code and do not stop the others', async () => {
    let call = 0;
    const outcome = await repeatCalls({
      repeat: 4,
      concurrency: 1,
      call: async () => {
        call += 1;
        if (call % 2 === 0) throw new Error(call === 2 ? 'A' : 'B');
      },
      onResult: () => undefined,
      codeOf: (error) => (error instanceof Error ? error.message : ''),
      elapsedMs: () => 0,
    });
    expect(outcome).toMatchObject({ calls: 4, succeeded: 2, failed: 2 });
    expect([...outcome.errors]).toEqual([
      ['A', 1],
      ['B', 1],
    ]);
    expect(outcome.firstError).toMatchObject({ message: 'A' });
  });

  test.each([
    [[1], 0.95, 1],
    [[1, 2, 3, 4], 0.5, 2],
    [[1, 2, 3, 4], 0.95, 4],
    [[], 0.5, 0],
  ])('[CLI-21] the percentile of %j for the share %d is %d', (sorted, share, expected) => {
    expect(percentile(sorted, share)).toBe(expected);
  });
});
