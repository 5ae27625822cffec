// The topic `registry`: functions, triggers and workers that came, changed and went. Rows are built again only when the
// router reports a change, or when a status may have changed.

import type { RegistryItem } from '../../../console/api/live.ts';
import type { ConsoleContext } from '../console-context.ts';
import { functionRowOf, triggerRowOf, workerRowOf } from '../routes/rows.ts';
import { Feed } from './feed.ts';

const INTERVAL_MS = 250;
/** A status changes without a registration: a condition fails, a worker is busy. */
const FULL_LOOK_EVERY = 20;

type Registered = 'function' | 'trigger' | 'worker';

interface Known {
  readonly object: Registered;
  readonly id: string;
  readonly text: string;
}

export class RegistryFeed extends Feed {
  #known = new Map<string, Known>();
  #registryVersion = -1;
  #looks = 0;
  /** Rises for all watchers together, so that each of them sees what it missed. */
  #version = 0;

  constructor(context: ConsoleContext) {
    super(context, INTERVAL_MS);
  }

  protected override begin(): void {
    this.#registryVersion = this.context.module.router.registryVersion;
    this.#known = this.#present();
  }

  protected override look(): readonly RegistryItem[] {
    const { registryVersion } = this.context.module.router;
    this.#looks++;
    if (registryVersion === this.#registryVersion && this.#looks % FULL_LOOK_EVERY !== 0) return [];
    this.#registryVersion = registryVersion;
    const present = this.#present();
    const items: RegistryItem[] = [];
    for (const [key, { object, id, text }] of present) {
      const before = this.#known.get(key);
      if (before?.text === text) continue;
      const change = before === undefined ? 'added' : 'changed';
      items.push({ version: ++this.#version, object, change, id, row: JSON.parse(text) });
    }
    for (const [key, { object, id }] of this.#known) {
      if (!present.has(key)) items.push({ version: ++this.#version, object, change: 'removed', id });
    }
    this.#known = present;
    return items;
  }

  #present(): Map<string, Known> {
    const { router } = this.context.module;
    const present = new Map<string, Known>();
    const add = (object: Registered, id: string, row: unknown): void => {
      present.set(`${object} ${id}`, { object, id, text: JSON.stringify(row) });
    };
    for (const entry of router.functions()) {
      if (entry.kind === 'worker') add('function', entry.id, functionRowOf(router, entry, null));
    }
    for (const binding of router.triggers()) {
      // A new time of the last firing is not a change of the registry.
      add('trigger', binding.id, { ...triggerRowOf(router, binding), last_fired_at: null, next_fire_time: null });
    }
    for (const session of router.workers()) {
      add('worker', session.workerId, { ...workerRowOf(router.workerRow(session)), in_flight: 0 });
    }
    return present;
  }
}
