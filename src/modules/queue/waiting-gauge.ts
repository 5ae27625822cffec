// Jobs that wait for a worker, as a gauge next to the metrics of workers (Q7): so it is listed, rolled up and exported,
// and alerts can use it. Zero is reported once for a queue, when its last waiting job is gone: points are not free.

import { loggedName } from '../../core/queue/queue-names.ts';
import type { QueueStats } from '../../core/queue/shapes.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import type { Clock } from '../../effects/clock.ts';
import type { QueueAdapter } from './adapters/adapter.ts';

const TELL_MS = 10_000;
const QUEUES_MAX = 200;

interface Parts {
  readonly adapter: Pick<QueueAdapter, 'stats'>;
  readonly clock: Pick<Clock, 'every' | 'nowMs'>;
  readonly router: { readonly observer: Pick<Collector, 'newSource' | 'frame'> | undefined };
}

export class WaitingGauge {
  readonly #parts: Parts;
  /** Queues where jobs wait, or did at the last report. */
  #told = new Set<string>();
  #source: number | undefined;
  #isAsking = false;
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#cancel = this.#parts.clock.every(TELL_MS, () => void this.#tell());
  }

  stop(): void {
    this.#cancel?.();
  }

  async #tell(): Promise<void> {
    const { adapter, clock, router } = this.#parts;
    if (router.observer === undefined || this.#isAsking) return;
    this.#isAsking = true;
    // A broker that is away cannot answer.
    const all: readonly QueueStats[] = await adapter.stats().catch(() => []);
    this.#isAsking = false;
    const waiting = all.filter(({ queue, parked }) => parked > 0 || this.#told.has(queue)).slice(0, QUEUES_MAX);
    this.#told = new Set(waiting.flatMap(({ queue, parked }) => (parked > 0 ? [queue] : [])));
    if (waiting.length === 0) return;
    this.#source ??= router.observer.newSource();
    router.observer.frame('MTRC', this.#source, Buffer.from(JSON.stringify(frameOf(waiting, clock.nowMs()))));
  }
}

/** A topic's queue is named by topic and function. */
function frameOf(waiting: readonly QueueStats[], nowMs: number): object {
  const dataPoints = waiting.map(({ queue, parked }) => ({
    asInt: parked,
    timeUnixNano: String(BigInt(nowMs) * 1_000_000n),
    attributes: [{ key: 'queue', value: { stringValue: loggedName(queue).replace('\n', ' ') } }],
  }));
  const metric = {
    name: 'svc.queue.waiting_for_worker',
    description: 'Jobs whose function no worker offers',
    unit: '1',
    gauge: { dataPoints },
  };
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'svc' } }] };
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'svc' }, metrics: [metric] }] }] };
}
