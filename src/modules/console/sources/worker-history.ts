// Which workers connected and left within the last hour (WRK-1). The router forgets a worker with its connection, so
// this file compares the router's workers once a second, and only when something changed.
//
// Invariants:
// - Events are kept for an hour, at most EVENTS_MAX of them. Of the workers that left, at most GONE_MAX are kept.
// - #connects counts the kept events of that kind, by name.

import type { WorkerEvent, WorkerRow } from '../../../console/api/registry.ts';
import type { RouterPort } from '../../../router/port.ts';
import { workersOfRouters } from '../../workers-elsewhere.ts';
import { workerRowOf } from '../routes/rows.ts';

const KEPT_MS = 3_600_000;
const EVENTS_MAX = 5_000;
const GONE_MAX = 1_000;

const LOOKED = Promise.resolve();

interface NamedEvent extends WorkerEvent {
  /** The name of its worker, which may come after the connection. */
  name: string;
}

export class WorkerHistory {
  readonly #router: RouterPort;
  readonly #events: NamedEvent[] = [];
  #present = new Map<string, WorkerRow>();
  /** In the order in which they left. */
  readonly #gone = new Map<string, WorkerRow>();
  readonly #connects = new Map<string, number>();
  #version = -1;
  #elsewhere: readonly WorkerRow[] = [];
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(router: RouterPort) {
    this.#router = router;
  }

  /** Workers of the other routers of this process, at the last look. */
  get elsewhere(): readonly WorkerRow[] {
    return this.#elsewhere;
  }

  look(): Promise<void> {
    const router = this.#router;
    this.#forget(router.nowMs - KEPT_MS);
    // What has changed since the other routers were asked is not part of their answers.
    if (this.#looking !== undefined) {
      this.#next ??= this.#looking.then(() => {
        this.#next = undefined;
        return this.look();
      });
      return this.#next;
    }
    const version = router.registryVersion;
    if (version === this.#version) return LOOKED;
    const asked = workersOfRouters(router);
    if (asked === undefined) {
      this.#version = version;
      this.#lookAt([]);
      return LOOKED;
    }
    this.#looking = asked.then(({ workers, missing_engines: missing }) => {
      this.#looking = undefined;
      // A router that did not answer is asked at the next look.
      if (missing !== undefined) return;
      this.#version = version;
      this.#lookAt(workers.map(workerRowOf));
    });
    return this.#looking;
  }

  #lookAt(elsewhere: readonly WorkerRow[]): void {
    this.#elsewhere = elsewhere;
    const own = this.#router.workers().map((session) => workerRowOf(this.#router.workerRow(session)));
    this.#compare(new Map([...own, ...elsewhere].map((row) => [row.id, row] as const)));
  }

  #compare(present: Map<string, WorkerRow>): void {
    const atMs = this.#router.nowMs;
    for (const [id, { name, connected_at }] of present) {
      const before = this.#present.get(id);
      if (before === undefined) this.#add({ at: connected_at, event: 'connected', worker_id: id, name });
      else if (before.name !== name) this.#rename(id, name);
    }
    for (const [id, row] of this.#present) {
      if (present.has(id)) continue;
      this.#add({ at: atMs, event: 'disconnected', worker_id: id, name: row.name });
      this.#gone.set(id, { ...row, status: 'disconnected', disconnected_at: atMs, in_flight: 0 });
    }
    for (const id of this.#gone.keys()) {
      if (this.#gone.size <= GONE_MAX) break;
      this.#gone.delete(id);
    }
    this.#present = present;
  }

  /** Newest first. */
  of(name: string): WorkerEvent[] {
    return this.#events
      .filter((event) => event.name === name)
      .map(({ at, event, worker_id }) => ({ at, event, worker_id }))
      .reverse();
  }

  reconnectsOf(name: string): number {
    return Math.max(0, (this.#connects.get(name) ?? 0) - 1);
  }

  /** Workers that left and have not reconnected under their name. */
  gone(): WorkerRow[] {
    const names = new Set([...this.#present.values()].map(({ name }) => name));
    const last = new Map<string, WorkerRow>();
    for (const row of this.#gone.values()) if (!names.has(row.name)) last.set(row.name, row);
    return [...last.values()].map((row) => ({ ...row, reconnects: this.reconnectsOf(row.name) }));
  }

  #add(event: NamedEvent): void {
    this.#events.push(event);
    this.#count(event);
    if (this.#events.length > EVENTS_MAX) this.#drop(EVENTS_MAX / 2);
  }

  #rename(workerId: string, name: string): void {
    for (const event of this.#events) {
      if (event.worker_id !== workerId) continue;
      this.#uncount(event);
      event.name = name;
      this.#count(event);
    }
  }

  /** Removes the oldest entries. */
  #drop(count: number): void {
    for (const event of this.#events.splice(0, count)) this.#uncount(event);
  }

  #count({ name, event }: NamedEvent): void {
    if (event === 'connected') this.#connects.set(name, (this.#connects.get(name) ?? 0) + 1);
  }

  #uncount({ name, event }: NamedEvent): void {
    if (event !== 'connected') return;
    const left = (this.#connects.get(name) ?? 0) - 1;
    if (left > 0) this.#connects.set(name, left);
    else this.#connects.delete(name);
  }

  #forget(beforeMs: number): void {
    const kept = this.#events.findIndex(({ at }) => at >= beforeMs);
    this.#drop(kept < 0 ? this.#events.length : kept);
    for (const [id, row] of this.#gone) {
      if ((row.disconnected_at ?? 0) >= beforeMs) break;
      this.#gone.delete(id);
    }
  }
}
