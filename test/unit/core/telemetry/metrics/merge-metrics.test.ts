// Metrics of several engines, compared with those of one that had all the calls.

import { expect, test } from 'vitest';
import type { AggregateRow } from '../../../../../src/core/telemetry/metrics/aggregate.ts';
import { CallStats } from '../../../../../src/core/telemetry/metrics/call-stats.ts';
import { summaryOf } from '../../../../../src/core/telemetry/metrics/durations.ts';
import { EngineCounters } from '../../../../../src/core/telemetry/metrics/engine-counters.ts';
import { EngineMetrics } from '../../../../../src/core/telemetry/metrics/engine-metrics.ts';
import { type EngineAndWorkerMetrics, mergedMetrics } from '../../../../../src/core/telemetry/metrics/merge-metrics.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

const NOW_MS = 1_700_000_000_000;

class Engine {
  readonly stats = new CallStats();
  readonly #counters = new EngineCounters();
  readonly #metrics = new EngineMetrics();

  answer(withDurations: boolean, aggregated: readonly AggregateRow[] = []): EngineAndWorkerMetrics {
    const calls = this.stats.take();
    const workers = { spawns: 3, deaths: 1 };
    this.#counters.add(calls, workers, NOW_MS);
    this.#metrics.add(calls, workers);
    const functions = this.#metrics.functionTotals(withDurations);
    const { invocations, durations } = this.#counters;
    const byFunction = functions.map(({ function_id: id, ok, error, deferred }) => [id, ok + error + deferred]);
    return {
      engine_metrics: {
        invocations: { ...invocations, by_function: Object.fromEntries(byFunction) },
        functions,
        workers: this.#counters.workers,
        performance: { ...summaryOf(durations), ...(withDurations && { durations }) },
      },
      sdk_metrics: [],
      ...(aggregated.length > 0 && { aggregated_metrics: [...aggregated] }),
      timestamp: NOW_MS,
    };
  }
}

function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, one) => (typeof one === 'number' ? Number(one.toPrecision(9)) : one)));
}

test('[CL30] the metrics of all engines are those of one engine that had all the calls', () => {
  forEachSeed(30, (random) => {
    const [engines, one] = [[new Engine(), new Engine(), new Engine()], new Engine()];
    for (let call = 0; call < 200; call++) {
      const engine = engines[random.below(3)];
      const id = `f${random.below(6)}`;
      const durationMs = random.below(40_000);
      const code = random.chance(30) ? `E${random.below(3)}` : undefined;
      for (const each of [engine, one]) each?.stats.ended(id, durationMs, code);
    }
    const [first, ...rest] = engines.map((engine) => engine.answer(true));
    if (first === undefined) throw new Error('There are three engines');
    const { engine_metrics: merged } = mergedMetrics(first, rest);
    const { engine_metrics: whole } = one.answer(false);
    const inOrder = ({ functions }: typeof merged) =>
      functions
        .map(({ errors, ...row }) => ({ ...row, errors: Object.entries(errors).sort() }))
        .sort((a, b) => (a.function_id < b.function_id ? -1 : 1));
    expect(rounded(inOrder(merged))).toEqual(rounded(inOrder(whole)));
    expect(merged.invocations).toEqual(whole.invocations);
    expect(rounded(merged.performance)).toEqual(rounded(whole.performance));
    expect(merged.workers).toEqual({ spawns: 9, deaths: 3, active: 6 });
  });
});

test('[CL30] points of several engines in one bucket are counted together, without percentiles', () => {
  const row = { name: 'shop.orders', bucket_start_ns: 0, bucket_end_ns: 10, percentiles: percentiles(1) };
  const near = { ...row, count: 2, sum: 6, min: 1, max: 5, avg: 3 };
  const far = { ...row, count: 1, sum: 9, min: 9, max: 9, avg: 9 };
  const alone = { ...row, name: 'shop.returns', count: 1, sum: 1, min: 1, max: 1, avg: 1 };
  const merged = mergedMetrics(new Engine().answer(true, [near]), [new Engine().answer(true, [far, alone])]);
  expect(merged.aggregated_metrics).toEqual([
    { name: 'shop.orders', bucket_start_ns: 0, bucket_end_ns: 10, count: 3, sum: 15, min: 1, max: 9, avg: 5 },
    alone,
  ]);
});

function percentiles(value: number) {
  return { p50: value, p75: value, p90: value, p95: value, p99: value };
}
