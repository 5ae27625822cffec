// Jobs that wait for a worker because none offers their function (Q7): the functions that they wait for, the search for
// those that another engine parked, and the gauge that counts them.

import { loggedName } from '../../core/queue/queue-names.ts';
import type { QueueStats } from '../../core/queue/shapes.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { QueueAdapter } from './adapters/adapter.ts';

export class AwaitedFunctions {
  readonly #byTrustedJobs = new Set<string>();
  readonly #byOtherJobs = new Set<string>();

  get isEmpty(): boolean {
    return this.#byTrustedJobs.size + this.#byOtherJobs.size === 0;
  }

  add(functionId: string, isTrustedWork: boolean): void {
    this.#setOf(isTrustedWork).add(functionId);
  }

  /** Jobs whose origin is known only when they are claimed: they count as both. */
  addUnknown(functionId: string): void {
    this.#byTrustedJobs.add(functionId);
    this.#byOtherJobs.add(functionId);
  }

  addAll(other: AwaitedFunctions): void {
    for (const functionId of other.#byTrustedJobs) this.#byTrustedJobs.add(functionId);
    for (const functionId of other.#byOtherJobs) this.#byOtherJobs.add(functionId);
  }

  /** Removes and returns the functions that are available now: jobs that are parked again are added again. */
  takeOffered(isOffered: (functionId: string, isTrustedWork: boolean) => boolean): Set<string> {
    const taken = new Set<string>();
    for (const isTrustedWork of [true, false]) {
      const awaited = this.#setOf(isTrustedWork);
      for (const functionId of awaited) {
        if (!isOffered(functionId, isTrustedWork)) continue;
        awaited.delete(functionId);
        taken.add(functionId);
      }
    }
    return taken;
  }

  clear(): void {
    this.#byTrustedJobs.clear();
    this.#byOtherJobs.clear();
  }

  #setOf(isTrustedWork: boolean): Set<string> {
    return isTrustedWork ? this.#byTrustedJobs : this.#byOtherJobs;
  }
}

interface WatchedQueue {
  readonly settings: { readonly name: string };
  noteParked(functionIds: readonly string[]): void;
}

const LOOK_MS_MIN = 5_000;
/** A slow search is rare: a broker may have to be read from its front. */
const REST_PER_LOOK = 20;

interface ParkedWatchOptions {
  readonly adapter: Pick<QueueAdapter, 'sharing'>;
  readonly queues: { readonly all: readonly WatchedQueue[] };
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly logger: Logger;
}

export class ParkedWatch {
  readonly #options: ParkedWatchOptions;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(options: ParkedWatchOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.adapter.sharing !== undefined) this.#lookAfter(LOOK_MS_MIN);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #lookAfter(delayMs: number): void {
    if (!this.#isStopped) this.#cancel = this.#options.clock.after(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { queues, clock } = this.#options;
    const beganMs = clock.monotonicMs();
    for (const runner of queues.all) {
      const functionIds = await this.#parkedIn(runner.settings.name);
      if (this.#isStopped) return;
      runner.noteParked(functionIds);
    }
    this.#lookAfter(Math.max(LOOK_MS_MIN, REST_PER_LOOK * (clock.monotonicMs() - beganMs)));
  }

  /** Empty when the broker is away: the next search counts. */
  async #parkedIn(queue: string): Promise<readonly string[]> {
    const { adapter, logger } = this.#options;
    try {
      return (await adapter.sharing?.parkedElsewhere(queue)) ?? [];
    } catch (error) {
      logger.debug('Parked jobs of other engines could not be searched for', { queue, error: String(error) });
      return [];
    }
  }
}

const REPORT_MS = 10_000;
const QUEUES_MAX = 200;

interface WaitingGaugeOptions {
  readonly adapter: Pick<QueueAdapter, 'stats'>;
  readonly clock: Pick<Clock, 'every' | 'nowMs'>;
  readonly router: { readonly observer: Pick<Collector, 'newSource' | 'frame'> | undefined };
}

export class WaitingGauge {
  readonly #options: WaitingGaugeOptions;
  /** Queues where jobs wait, or did at the last report. */
  #reported = new Set<string>();
  #source: number | undefined;
  #isAsking = false;
  #cancel: (() => void) | undefined;

  constructor(options: WaitingGaugeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = this.#options.clock.every(REPORT_MS, () => void this.#report());
  }

  stop(): void {
    this.#cancel?.();
  }

  async #report(): Promise<void> {
    const { adapter, clock, router } = this.#options;
    if (router.observer === undefined || this.#isAsking) return;
    this.#isAsking = true;
    // A broker that is away cannot answer.
    const all: readonly QueueStats[] = await adapter.stats().catch(() => []);
    this.#isAsking = false;
    const waiting = all.filter(({ queue, parked }) => parked > 0 || this.#reported.has(queue)).slice(0, QUEUES_MAX);
    this.#reported = new Set(waiting.flatMap(({ queue, parked }) => (parked > 0 ? [queue] : [])));
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
