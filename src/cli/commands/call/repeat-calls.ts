// Repeated calls of one function, a few at a time, and their results (CLI-21).

export interface RepeatOptions {
  readonly repeat: number;
  readonly concurrency: number;
  /** Makes one call. An exception counts as a failed call. */
  call(): Promise<unknown>;
  /** After each call, in the order in which they end. */
  onResult(result: unknown): void;
  codeOf(error: unknown): string;
  elapsedMs(): number;
}

export interface RepeatOutcome {
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly durationMs: number;
  /** Of all calls, the failed ones included. */
  readonly latencyMs: { readonly min: number; readonly p50: number; readonly p95: number; readonly max: number };
  /** How many calls failed with each code. */
  readonly errors: ReadonlyMap<string, number>;
  readonly firstError: unknown;
}

export async function repeatCalls(options: RepeatOptions): Promise<RepeatOutcome> {
  const { repeat, concurrency, elapsedMs } = options;
  const startedMs = elapsedMs();
  const latencies: number[] = [];
  const failures: unknown[] = [];
  let started = 0;

  const lane = async () => {
    while (started < repeat) {
      started += 1;
      const callStartedMs = elapsedMs();
      try {
        options.onResult(await options.call());
      } catch (error) {
        failures.push(error);
      }
      latencies.push(elapsedMs() - callStartedMs);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, repeat) }, lane));

  const errors = new Map<string, number>();
  for (const code of failures.map(options.codeOf)) errors.set(code, (errors.get(code) ?? 0) + 1);
  latencies.sort((one, other) => one - other);
  return {
    calls: latencies.length,
    succeeded: latencies.length - failures.length,
    failed: failures.length,
    durationMs: elapsedMs() - startedMs,
    latencyMs: {
      min: latencies[0] ?? 0,
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      max: latencies.at(-1) ?? 0,
    },
    errors,
    firstError: failures[0],
  };
}

/** The smallest value that at least this share of the sorted values does not exceed. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
