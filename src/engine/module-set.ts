// The modules that run: built, registered, started, replaced while the engine runs, stopped.
//
// Invariant: a module is registered exactly while it runs.

import { isDeepStrictEqual } from 'node:util';
import type { ModuleKey } from '../config/changes.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { LoadedModule } from '../config/module-entries.ts';
import { Refusal } from '../core/calls/refusal.ts';
import { StartFailure } from '../effects/start-failure.ts';
import type { Pool } from '../effects/threads/pool.ts';
import { MODULES } from '../modules/catalogue.ts';
import type {
  EngineModule,
  ListenerAddress,
  ModuleContext,
  ModuleDefinition,
  ModuleHealth,
  Reconfiguration,
} from '../modules/module.ts';
import { plugIn, plugInOffence, unplug } from '../modules/plug-in.ts';
import type { RouterContext } from '../router/context.ts';
import { StoreDamaged, type StoreRegistry } from '../store/directory/registry.ts';
import { StoreInUse } from '../store/directory/store-folder.ts';
import { ListenError } from '../transport/transport.ts';
import { keepMarkKey } from './mark-key.ts';

export interface ListedModule extends LoadedModule {
  readonly definition: ModuleDefinition;
}

/** A module that the first router has started, and where it listens. */
export interface AddedModule extends LoadedModule {
  readonly listeners: readonly ListenerAddress[];
}

/** The code of the configured modules. */
export function listModules(config: LoadedConfig): ListedModule[] {
  return config.modules.map((module) => ({ ...module, definition: definitionOf(module.name) }));
}

function definitionOf(name: string): ModuleDefinition {
  const definition = MODULES.find(({ declaration }) => declaration.name === name);
  if (definition === undefined) throw new Error(`The loader accepted a module that is not in the catalogue: ${name}`);
  return definition;
}

interface RunningModule extends Omit<ListedModule, 'config'> {
  readonly module: EngineModule;
  /** With which it runs now. */
  config: unknown;
}

/** The same modules on the further routers of the process. */
export interface ModulesElsewhere {
  /** The answer of those of all routers to the new configuration. */
  reconfigure(key: ModuleKey, config: unknown): Promise<Reconfiguration>;
  /**
   * Starts the same modules on all of them. Rejects if one cannot, and then none has them. `countBefore`: how many of
   * that name run already.
   */
  add(modules: readonly AddedModule[], countBefore: (name: string) => number): Promise<void>;
  remove(key: ModuleKey): void;
  /** Resolves when they have done what they were asked to. */
  flush(): Promise<void>;
}

export class ModuleSet {
  /** Set before the modules start. */
  others: ModulesElsewhere | undefined;
  readonly #context: RouterContext;
  readonly #stores: StoreRegistry;
  #running: readonly RunningModule[] = [];

  constructor(context: RouterContext, stores: StoreRegistry) {
    this.#context = context;
    this.#stores = stores;
  }

  get names(): { readonly name: string; readonly adapter?: string }[] {
    return this.#running.map(({ name, adapter }) => ({
      name,
      ...(adapter !== undefined && { adapter: adapter.name }),
    }));
  }

  listeners(): readonly ListenerAddress[] {
    return this.#running.flatMap(({ module }) => module.listeners());
  }

  /** By name; for several ports of one module, the worst health. */
  health(): Record<string, ModuleHealth> {
    const health: Record<string, ModuleHealth> = {};
    for (const { name, module } of this.#running) {
      const own = module.health();
      const known = health[name];
      if (known === undefined || SEVERITY.indexOf(own.status) > SEVERITY.indexOf(known.status)) health[name] = own;
    }
    return health;
  }

  /** Starts all or none (K1). All are built before the first one starts, so that they can find each other's stores. */
  async start(listed: readonly ListedModule[], context: ModuleContext, pool: Pool): Promise<void> {
    const started: EngineModule[] = [];
    try {
      // A module may find a problem of its configuration that only it can detect.
      this.#running = listed.map((entry) => ({ ...entry, module: create(entry, context) }));
      for (const { name, module } of this.#running) plugIn(this.#context, name, module);
      await this.#stores.start();
      await keepMarkKey(this.#context, this.#stores);
      for (const { module } of this.#running) {
        // The module may have opened resources before it failed.
        started.push(module);
        await module.start();
      }
    } catch (error) {
      for (const module of started.reverse()) module.stop();
      await Promise.all([...started.map((module) => module.close?.()), this.#stores.close(), pool.close()]);
      throw startFailureOf(error);
    }
    for (const { module } of this.#running) module.started?.();
  }

  drain(): void {
    for (const { module } of this.#running) module.drain();
  }

  stop(): void {
    for (const { module } of [...this.#running].reverse()) module.stop();
  }

  /** After `stop`: waits until slow work has ended. */
  async close(): Promise<void> {
    await Promise.all(this.#running.map(({ module }) => module.close?.()));
  }

  /** The answer of the running module to the new configuration. */
  async ask(key: ModuleKey, listed: ListedModule): Promise<Reconfiguration> {
    const running = this.#at(key);
    if (!isDeepStrictEqual(running?.adapter, listed.adapter)) {
      return { ok: false, reason: 'its adapter can only change with a new start of the engine' };
    }
    const answer = await running?.module.reconfigure?.(listed.config);
    if (running === undefined || answer === undefined) {
      return { ok: false, reason: 'it can only change with a new start of the engine' };
    }
    const all = await this.#askOthers(key, listed.config, answer);
    if (!all.ok) return all;
    return {
      ...all,
      commit: () => {
        all.commit();
        running.config = listed.config;
      },
    };
  }

  /** The answer of all routers, where that of this one is known. */
  async #askOthers(key: ModuleKey, config: unknown, answer: Reconfiguration): Promise<Reconfiguration> {
    const others = answer.ok ? await this.others?.reconfigure(key, config) : undefined;
    if (!answer.ok || others === undefined) return answer;
    if (!others.ok) return others;
    return {
      ...answer,
      commit: () => {
        others.commit();
        answer.commit();
      },
    };
  }

  /** The answers of the other modules, which read the files again that their entries name. */
  async refreshOthers(
    changed: readonly ModuleKey[],
  ): Promise<readonly { readonly name: string; readonly answer: Reconfiguration }[]> {
    const asked = changed.map((key) => this.#at(key));
    const others = this.#running.filter((running) => !asked.includes(running));
    const answers = others.map(async (running) => {
      const { name, module, config } = running;
      const answer = await module.refresh?.();
      if (answer === undefined) return [];
      const nth = this.#running.filter((one) => one.name === name).indexOf(running);
      return [{ name, answer: await this.#askOthers({ name, nth }, config, answer) }];
    });
    return (await Promise.all(answers)).flat();
  }

  /** Starts further modules: all or none. Rejects with a `StartFailure`. */
  async add(listed: readonly ListedModule[], context: ModuleContext): Promise<void> {
    const added: RunningModule[] = [];
    try {
      for (const entry of listed) added.push(await this.#addOne(entry, context));
      await this.others?.add(
        added.map((running) => ({ ...running, listeners: running.module.listeners() })),
        (name) => this.#running.filter((running) => running.name === name).length,
      );
    } catch (error) {
      for (const running of added.reverse()) await this.#end(running);
      throw startFailureOf(error);
    }
    this.#running = [...this.#running, ...added];
    for (const { module } of added) module.started?.();
  }

  /** Removes everything of a module that cannot start: its open resources and its listeners. */
  async #addOne(entry: ListedModule, context: ModuleContext): Promise<RunningModule> {
    const module = create(entry, context);
    try {
      this.#assertFree(entry, module);
      await this.#stores.start();
      await module.start();
      // A worker may have registered one of its ids meanwhile.
      this.#assertFree(entry, module);
    } catch (error) {
      module.stop();
      await module.close?.();
      throw error;
    }
    plugIn(this.#context, entry.name, module);
    return { ...entry, module };
  }

  #assertFree({ name }: ListedModule, module: EngineModule): void {
    const offence = plugInOffence(this.#context, module);
    if (offence !== undefined) throw new StartFailure(78, `${name} cannot be started: ${offence}`);
  }

  /** Resolves when all routers use what was committed. */
  async settled(): Promise<void> {
    await this.others?.flush();
  }

  async remove(keys: readonly ModuleKey[]): Promise<void> {
    const leaving = keys.flatMap((key) => this.#at(key) ?? []);
    // From the last one, so that the others keep their numbers.
    for (const key of [...keys].sort((one, other) => other.nth - one.nth)) this.others?.remove(key);
    this.#running = this.#running.filter((running) => !leaving.includes(running));
    for (const running of leaving) await this.#end(running);
  }

  async #end({ name, module }: RunningModule): Promise<void> {
    module.drain();
    unplug(this.#context, name, module);
    module.stop();
    await module.close?.();
  }

  #at({ name, nth }: ModuleKey): RunningModule | undefined {
    return this.#running.filter((running) => running.name === name)[nth];
  }
}

function create({ definition, config, adapter }: ListedModule, context: ModuleContext): EngineModule {
  return definition.create(context, config, adapter);
}

function startFailureOf(error: unknown): unknown {
  if (error instanceof ListenError || error instanceof StoreInUse) return new StartFailure(7, error.message);
  if (error instanceof StoreDamaged) return new StartFailure(74, error.message);
  // A broker became unavailable while modules were starting: a new attempt may find it (K3).
  if (error instanceof Refusal && error.code === 'STORAGE_UNAVAILABLE') return new StartFailure(75, error.message);
  return error;
}

const SEVERITY: readonly ModuleHealth['status'][] = ['healthy', 'degraded', 'unhealthy'];
