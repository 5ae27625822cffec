// Looks once a second how hard the engine is pressed, and says so when that changes: one line per change (L2).
//
// What a level means stands where it is done: calls in `shed.ts`, requests in `modules/http`, hand-over of jobs in
// `modules/queue`, spans in `core/telemetry/collector.ts`, new connections where they are admitted.

import { PRESSURE } from '../core/pressure.ts';
import type { LoadGauge } from '../effects/load-gauge.ts';
import type { RouterContext } from './context.ts';

const PRESSURE_READ_INTERVAL_MS = 1_000;

/** `commitQueue`: how many commands wait for a store. Returns what stops it. */
export function startPressureWatch(context: RouterContext, gauge: LoadGauge, commitQueue: () => number): () => void {
  const { clock, pressure, counters } = context;
  const cancel = clock.every(PRESSURE_READ_INTERVAL_MS, () => {
    const reading = {
      event_loop_delay_ms: gauge.loopDelayMs(),
      heap_share: gauge.heapShare(),
      outbound_share: unreadBytes(context) / context.settings.outboundBytesMax,
      commit_queue: commitQueue(),
    };
    if (!pressure.take(reading, clock.monotonicMs())) return;
    counters.count('pressure.changes', pressure.name);
    tell(context);
  });
  return () => {
    cancel();
    gauge.stop();
  };
}

function tell({ pressure, logger }: RouterContext): void {
  const { level, name, cause } = pressure;
  if (cause === undefined) {
    logger.info('The engine is no longer under pressure', { level: name });
    return;
  }
  const { quantity, value, limit } = cause;
  const rounded = value >= 10 ? Math.round(value) : Math.round(value * 1_000) / 1_000;
  const text = `The engine is under pressure: ${MEANING[level]}`;
  logger.warn(text, { level: name, cause: quantity, value: rounded, limit });
}

const MEANING = {
  [PRESSURE.normal]: '',
  [PRESSURE.busy]: 'fewer spans are kept',
  [PRESSURE.shed]: 'a part of HTTP requests and calls of browsers is refused, and of calls that nobody waits for',
  [PRESSURE.protect]: 'requests are refused, nobody new is let in, and no job is taken',
};

function unreadBytes({ sessions }: RouterContext): number {
  let bytes = 0;
  for (const { outbox } of sessions.values()) bytes += outbox.bytes;
  return bytes;
}
