// Triggers that no connection owns: kept on disk before they are acknowledged, and back after a restart (PD-51).
//
// In a cluster all engines keep and bind them together. Otherwise they lie in the default store, `./data`, if a module
// of this engine uses it, and otherwise in the first store on disk that a module uses. An engine without one keeps them
// in memory, and logs that.

import { Refusal } from '../../core/calls/refusal.ts';
import type { DurableTrigger } from '../../router/port.ts';
import { runCommand, type Store } from '../../store/thread/contract.ts';
import type { ModuleContext, SharedTriggersView } from '../module.ts';
import { storedRows } from './stored-rows.ts';

/** Up to 64 KiB each: a page stays below the limit of a list. */
const PAGE_SIZE = 32;

interface Row {
  readonly id: string;
  readonly type: string;
  readonly function_id: string;
  readonly config: unknown;
  readonly metadata?: unknown;
}

type Context = Pick<ModuleContext, 'router' | 'stores' | 'logger' | 'cluster'>;

export class DurableTriggers {
  readonly #context: Context;
  /** Set by `load`. */
  #store: Store | undefined;
  #shared: SharedTriggersView | undefined;
  #hasWarned = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Binds the triggers that were bound when the engine ended. */
  async load(): Promise<void> {
    this.#shared = await this.#context.cluster?.triggers();
    if (this.#shared !== undefined) return await this.#shared.follow((id, value) => this.#changed(id, value));
    this.#store = this.#context.stores.durable;
    if (this.#store === undefined) return;
    for await (const row of storedRows(this.#store, 'triggers::list', PAGE_SIZE)) this.#restore(row);
  }

  /** Returns the id; rejects with the refusal of the provider or of the store. */
  async register(trigger: DurableTrigger): Promise<string> {
    const id = await this.#context.router.bindDurable(trigger);
    if (this.#shared !== undefined) return await this.#share(this.#shared, id, trigger);
    if (this.#store === undefined) {
      this.#warnOnce();
      return id;
    }
    try {
      await runCommand(this.#store, 'triggers::put', rowOf(id, trigger));
    } catch (error) {
      this.#context.router.unbindDurable(id);
      throw error;
    }
    return id;
  }

  /** Returns whether it existed. */
  unregister(id: string): boolean | Promise<boolean> {
    const { router } = this.#context;
    const binding = router.trigger(id);
    if (binding === undefined || binding.owner !== undefined) return false;
    if (this.#shared !== undefined) {
      const removed = this.#shared.remove(id).catch(asUnavailable);
      // The report of the bucket may have unbound it by then.
      return removed.then(() => router.unbindDurable(id)).then(() => true);
    }
    if (this.#store === undefined) return router.unbindDurable(id);
    return runCommand(this.#store, 'triggers::remove', { id }).then(() => router.unbindDurable(id));
  }

  async #share(shared: SharedTriggersView, id: string, trigger: DurableTrigger): Promise<string> {
    const value = JSON.stringify(rowOf(id, trigger));
    try {
      const refusal = shared.refusalOf(value);
      if (refusal !== undefined) throw new Refusal('PAYLOAD_TOO_LARGE', `The trigger cannot be shared: ${refusal}`);
      await shared.keep(id, value).catch(asUnavailable);
    } catch (error) {
      this.#context.router.unbindDurable(id);
      throw error;
    }
    return id;
  }

  /** This engine or another one has changed it. */
  #changed(id: string, value: string | undefined): void {
    const { router } = this.#context;
    const binding = router.trigger(id);
    if (value === undefined) router.unbindDurable(id);
    else if (binding === undefined) this.#restore(JSON.parse(value));
  }

  #restore(row: unknown): void {
    if (!isRow(row)) throw new Error(`A durable trigger has an unknown shape: ${JSON.stringify(row)}`);
    const { id, type, function_id: functionId, config, metadata } = row;
    const refusal = this.#context.router.restoreDurable(id, { type, functionId, config, metadata });
    if (refusal === undefined) return;
    const fields = { trigger_id: id, trigger_type: type, function_id: functionId, reason: refusal.message };
    this.#context.logger.warn('A durable trigger of an earlier run is refused now; it stays listed', fields);
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#context.logger.warn('No module keeps data on disk: durable triggers are lost when the engine ends');
  }
}

function rowOf(id: string, { type, functionId, config, metadata }: DurableTrigger): Row {
  return { id, type, function_id: functionId, config: config ?? null, metadata };
}

/** Whether it is kept is unknown. */
function asUnavailable(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new Refusal('STORAGE_UNAVAILABLE', `The cluster cannot keep triggers now: ${reason}`);
}

function isRow(row: unknown): row is Row {
  if (typeof row !== 'object' || row === null) return false;
  const { id, type, function_id: functionId } = row as Partial<Row>;
  return typeof id === 'string' && typeof type === 'string' && typeof functionId === 'string';
}
