// What a further router observes goes to the first one, whose telemetry thread keeps it.

import { PRESSURE } from '../../core/limits/pressure.ts';
import type { TelemetryBatch, TelemetrySink } from '../../core/telemetry/records/intake.ts';
import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import { Collector } from '../../core/telemetry/spans/collector.ts';
import { collectorSettings } from '../../modules/observability/sampling.ts';
import type { RouterContext } from '../../router/context.ts';
import { sourceOfRouter } from './thread-sources.ts';

/** Batches that the first router has not taken yet. */
const BATCHES_AWAY_MAX = 4;

export class ThreadTelemetry implements TelemetrySink {
  readonly #index: number;
  readonly #send: (batch: TelemetryBatch) => void;
  #away = 0;

  constructor(index: number, send: (batch: TelemetryBatch) => void) {
    this.#index = index;
    this.#send = send;
  }

  get isFull(): boolean {
    return this.#away >= BATCHES_AWAY_MAX;
  }

  take(batch: TelemetryBatch): void {
    this.#away++;
    this.#send({
      ...batch,
      frames: batch.frames.map((frame) => ({ ...frame, source: sourceOfRouter(this.#index, frame.source) })),
      goneSources: batch.goneSources.map((source) => sourceOfRouter(this.#index, source)),
    });
  }

  taken(): void {
    this.#away--;
  }
}

export function collectorFor(context: RouterContext, telemetry: TelemetrySettings, sink: TelemetrySink): Collector {
  const { clock, random, pressure, counters } = context;
  const world = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs: number, task: () => void) => clock.after(delayMs, task),
    token: () => random.token(),
    fraction: () => random.fraction(),
    isPressed: () => pressure.level >= PRESSURE.busy,
    dropped: (kind: string, reason: string, times?: number) =>
      counters.count('telemetry.dropped', `${kind},${reason}`, times),
  };
  return new Collector(collectorSettings(telemetry), world, sink);
}
