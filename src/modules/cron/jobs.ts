// Which triggers are one job: equal ones of different connections tick once (decisions 26), and are known again after
// a restart, when their ids may have changed.

import { createHash } from 'node:crypto';
import type { AgendaJob } from '../../core/cron/agenda.ts';
import type { Schedule } from '../../core/cron/schedule.ts';
import type { Binding } from '../../router/builtin.ts';
import type { CronPlan } from './triggers.ts';

/** Runs of one trigger at a time (CR4). */
const IN_FLIGHT_MAX = 10;

export class CronJob implements AgendaJob {
  readonly key: string;
  readonly schedule: Schedule;
  readonly misfire: 'skip' | 'once';
  readonly inFlightMax: number;
  /** Where its ticks become jobs. */
  readonly queue: string | undefined;
  /** The triggers it stands for; it lives until the last of them leaves. */
  readonly bindings = new Set<Binding>();
  inFlight = 0;
  follows = false;
  dueMs = 0;
  place = -1;

  constructor(key: string, { schedule, misfire, overlaps, queue }: CronPlan) {
    this.key = key;
    this.schedule = schedule;
    this.misfire = misfire;
    this.queue = queue;
    this.inFlightMax = overlaps ? IN_FLIGHT_MAX : 1;
  }
}

export class CronJobs {
  readonly #byKey = new Map<string, CronJob>();
  readonly #byBinding = new Map<Binding, CronJob>();

  get size(): number {
    return this.#byKey.size;
  }

  of(binding: Binding): CronJob | undefined {
    return this.#byBinding.get(binding);
  }

  /** The job of the binding, and whether the binding is the first of it. */
  add(binding: Binding, plan: CronPlan): { job: CronJob; isNew: boolean } {
    const key = this.#keyOf(binding);
    const known = this.#byKey.get(key);
    const job = known ?? new CronJob(key, plan);
    this.#byKey.set(key, job);
    this.#byBinding.set(binding, job);
    job.bindings.add(binding);
    return { job, isNew: known === undefined };
  }

  /** The job of the binding, and whether it has none left. */
  remove(binding: Binding): { job: CronJob; isGone: boolean } | undefined {
    const job = this.#byBinding.get(binding);
    if (job === undefined) return undefined;
    this.#byBinding.delete(binding);
    job.bindings.delete(binding);
    const isGone = job.bindings.size === 0;
    if (isGone) this.#byKey.delete(job.key);
    return { job, isGone };
  }

  /** One connection that binds the same thing twice means two jobs; two connections mean one. */
  #keyOf(binding: Binding): string {
    const face = JSON.stringify([binding.functionId, binding.config, binding.metadata ?? null]);
    for (let ordinal = 0; ; ordinal++) {
      const key = createHash('sha256').update(`${ordinal} ${face}`).digest('hex').slice(0, 32);
      const owners = [...(this.#byKey.get(key)?.bindings ?? [])].map(({ owner }) => owner);
      if (!owners.includes(binding.owner)) return key;
    }
  }
}
