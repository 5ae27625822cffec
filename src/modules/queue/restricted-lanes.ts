// Opens the lanes of queues: where jobs of restricted connections wait and run, apart from trusted ones. A lane has the
// settings of its queue, and capacity, slots, groups and dead letters of its own, so that these connections can neither
// fill the queue nor hold it up. It is opened for its first job, and for jobs that an earlier run or another engine
// left.

import { isLane, laneOf, withoutLane } from '../../core/queue/queue-names.ts';
import type { EnqueueRefused, QueueStats } from '../../core/queue/shapes.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import type { QueueSettings } from './config.ts';
import type { QueueRunner } from './runner.ts';

/** How often lanes are looked for that another engine filled: its jobs run elsewhere within 35 s after its end. */
const LOOK_EVERY_MS = 15_000;

type Opened = QueueRunner | EnqueueRefused;

interface Lanes {
  find(name: string): QueueRunner | undefined;
  add(settings: QueueSettings): QueueRunner;
}

export type LaneAdapter = Pick<QueueAdapter, 'open' | 'stats' | 'pausing' | 'sharing'>;

interface LanesOptions {
  readonly adapter: LaneAdapter;
  readonly queues: Lanes;
  readonly clock: Pick<Clock, 'every'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class RestrictedLanes {
  readonly #options: LanesOptions;
  /** Jobs that wait for their lane, by its name, in the order in which they came. */
  readonly #opening = new Map<string, ((opened: Opened) => void)[]>();
  #cancel: (() => void) | undefined;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Opens the lanes that hold jobs or dead letters, and looks for others where other engines share the broker. */
  async start(): Promise<void> {
    const { adapter, clock } = this.#options;
    await this.#openHeld(await adapter.stats());
    if (adapter.sharing !== undefined) this.#cancel = clock.every(LOOK_EVERY_MS, () => void this.#look());
  }

  stop(): void {
    this.#cancel?.();
  }

  /** Opens the lane of the queue and calls `use` with it, or with the reason why it cannot be opened. */
  open({ settings }: QueueRunner, use: (opened: Opened) => void): void {
    const name = laneOf(settings.name);
    const waiting = this.#opening.get(name);
    if (waiting !== undefined) return void waiting.push(use);
    const all = [use];
    this.#opening.set(name, all);
    this.#openLane(settings).then((opened) => {
      this.#opening.delete(name);
      for (const one of all) one(opened);
    });
  }

  async #openLane(settings: QueueSettings): Promise<Opened> {
    const { adapter, queues } = this.#options;
    const name = laneOf(settings.name);
    try {
      const opened = await adapter.open(name, settings);
      await this.#pauseWith(settings.name);
      if (opened.isRefused) return unavailable('its jobs are of another type than the queue now has');
      // The queue may have left the file meanwhile, or have other settings.
      const base = queues.find(settings.name);
      if (base === undefined) return { reason: 'QUEUE_NOT_FOUND', message: `Queue '${settings.name}' not found` };
      const lane = queues.find(name) ?? queues.add({ ...base.settings, name });
      lane.noteParked(opened.parkedFunctions);
      // The queue may have been paused or resumed while its lane was not listed under it.
      await this.#pauseWith(settings.name);
      lane.nudge();
      return lane;
    } catch (error) {
      return unavailable(error instanceof Error ? error.message : String(error));
    }
  }

  /** A lane is paused while its queue is. */
  async #pauseWith(queue: string): Promise<void> {
    const { adapter } = this.#options;
    const all = await adapter.stats();
    const isPaused = (name: string): boolean => all.some((stats) => stats.queue === name && stats.isPaused);
    const lane = laneOf(queue);
    if (isPaused(lane) !== isPaused(queue)) await adapter.pausing?.setPaused(lane, isPaused(queue));
  }

  async #openHeld(all: readonly QueueStats[]): Promise<void> {
    const { queues, logger } = this.#options;
    for (const { queue: name } of all) {
      const base = isLane(name) ? queues.find(withoutLane(name)) : undefined;
      if (base === undefined || queues.find(name) !== undefined || this.#opening.has(name)) continue;
      await new Promise<void>((resolve) => {
        this.open(base, (opened) => {
          if ('reason' in opened) {
            const fields = { queue: base.settings.name, error: opened.message };
            logger.warn('The jobs of restricted connections in a queue are not available', fields);
          }
          resolve();
        });
      });
    }
  }

  async #look(): Promise<void> {
    // A broker that is away cannot answer.
    const all = await this.#options.adapter.stats().catch(() => []);
    await this.#openHeld(all);
  }
}

function unavailable(why: string): EnqueueRefused {
  return { reason: 'STORAGE_UNAVAILABLE', message: `The lane for jobs of restricted connections is not open: ${why}` };
}
