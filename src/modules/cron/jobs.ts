// Which triggers share one cron job: equal ones of different connections tick once (PD-26), and are recognised after a
// restart, when their ids may have changed.

import { createHash } from 'node:crypto';
import type { AgendaJob } from '../../core/cron/agenda.ts';
import type { Schedule } from '../../core/cron/schedule.ts';
import type { Binding } from '../../router/builtin.ts';
import { trustedFirst } from '../../router/restricted/reach.ts';
import type { CronPlan } from './triggers.ts';

/** Concurrent runs of one trigger (CR4). */
const IN_FLIGHT_MAX = 10;

export class CronJob implements AgendaJob {
  readonly key: string;
  readonly schedule: Schedule;
  readonly misfire: 'skip' | 'once';
  readonly inFlightMax: number;
  /** The queue that its ticks become jobs of. */
  readonly queue: string | undefined;
  /** The triggers that share the job; it exists until the last of them is removed. */
  readonly bindings = new Set<Binding>();
  inFlight = 0;
  follows = false;
  dueMs = 0;
  heapIndex = -1;

  constructor(key: string, { schedule, misfire, overlaps, queue }: CronPlan) {
    this.key = key;
    this.schedule = schedule;
    this.misfire = misfire;
    this.queue = queue;
    this.inFlightMax = overlaps ? IN_FLIGHT_MAX : 1;
  }

  /** A trusted trigger represents all equal ones, so that a restricted connection never owns a trusted tick. */
  get binding(): Binding | undefined {
    return trustedFirst(this.bindings)[0];
  }
}

type Owner = Binding['owner'];

/** The job and ordinal of a binding. */
interface Membership {
  readonly job: CronJob;
  readonly definition: string;
  readonly ordinal: number;
}

export class CronJobs {
  readonly #byKey = new Map<string, CronJob>();
  readonly #memberships = new Map<Binding, Membership>();
  #restrictedCount = 0;
  /** By the digest of the trigger's definition. */
  readonly #ordinals = new Map<string, Map<Owner, Ordinals>>();

  get size(): number {
    return this.#byKey.size;
  }

  /** The number of triggers of restricted connections. */
  get restrictedCount(): number {
    return this.#restrictedCount;
  }

  of(binding: Binding): CronJob | undefined {
    return this.#memberships.get(binding)?.job;
  }

  /** The job of the binding, and whether the binding is its first. */
  add(binding: Binding, plan: CronPlan): { job: CronJob; isNew: boolean } {
    const text = definitionOf(binding);
    const definition = digest(text);
    const ordinal = this.#ordinalOf(binding, definition);
    const key = digest(`${ordinal} ${text}`);
    const known = this.#byKey.get(key);
    const job = known ?? new CronJob(key, plan);
    this.#byKey.set(key, job);
    this.#memberships.set(binding, { job, definition, ordinal });
    job.bindings.add(binding);
    if (binding.owner?.access !== undefined) this.#restrictedCount++;
    return { job, isNew: known === undefined };
  }

  /** The job of the binding, and whether it has none left. */
  remove(binding: Binding): { job: CronJob; isGone: boolean } | undefined {
    const membership = this.#memberships.get(binding);
    if (membership === undefined) return undefined;
    const { job } = membership;
    this.#memberships.delete(binding);
    this.#releaseOrdinal(binding, membership);
    job.bindings.delete(binding);
    if (binding.owner?.access !== undefined) this.#restrictedCount--;
    const isGone = job.bindings.size === 0;
    if (isGone) this.#byKey.delete(job.key);
    return { job, isGone };
  }

  /** Equal triggers of one connection are two jobs; equal triggers of two connections are one. */
  #ordinalOf({ owner }: Binding, definition: string): number {
    const owners = this.#ordinals.get(definition) ?? new Map<Owner, Ordinals>();
    this.#ordinals.set(definition, owners);
    const ordinals = owners.get(owner) ?? new Ordinals();
    owners.set(owner, ordinals);
    return ordinals.take();
  }

  #releaseOrdinal({ owner }: Binding, { definition, ordinal }: Membership): void {
    const owners = this.#ordinals.get(definition);
    const ordinals = owners?.get(owner);
    if (owners === undefined || ordinals?.release(ordinal) !== true) return;
    owners.delete(owner);
    if (owners.size === 0) this.#ordinals.delete(definition);
  }
}

/** The numbers of equal triggers of one connection: always the lowest free one. */
class Ordinals {
  readonly #taken = new Set<number>();
  /** No number below it is free. */
  #lowest = 0;

  take(): number {
    while (this.#taken.has(this.#lowest)) this.#lowest++;
    this.#taken.add(this.#lowest);
    return this.#lowest;
  }

  /** Returns true if no number is taken any more. */
  release(ordinal: number): boolean {
    this.#taken.delete(ordinal);
    this.#lowest = Math.min(this.#lowest, ordinal);
    return this.#taken.size === 0;
  }
}

/** The definition of a trigger without its owner: equal for equal triggers. */
function definitionOf({ functionId, settings, metadata }: Binding): string {
  return JSON.stringify([functionId, settings, metadata ?? null]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
