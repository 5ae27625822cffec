// Measures the pressure on the engine once a second, and logs one line per change (L2).
//
// The effect of a level is implemented where the work begins: calls in `shed.ts`, requests in `modules/http`, hand-over
// of jobs in `modules/queue`, spans in `core/telemetry/spans/collector.ts`, new connections where they are admitted.

import { PRESSURE } from '../../core/limits/pressure.ts';
import type { LoadGauge } from '../../effects/process-figures.ts';
import type { RouterContext } from '../context.ts';

const PRESSURE_READ_INTERVAL_MS = 1_000;

/** `commitQueue`: how many commands wait for a store. Returns a function that stops it. */
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
    logChange(context);
  });
  return () => {
    cancel();
    gauge.stop();
  };
}

function logChange({ pressure, logger }: RouterContext): void {
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
  [PRESSURE.shed]: 'some HTTP requests and browser calls are refused, and some fire-and-forget calls',
  [PRESSURE.protect]: 'requests and new connections are refused, and no job is taken',
};

function unreadBytes({ sessions }: RouterContext): number {
  let bytes = 0;
  for (const { sendQueue } of sessions.values()) bytes += sendQueue.bytes;
  return bytes;
}
