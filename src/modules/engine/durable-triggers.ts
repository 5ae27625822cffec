// Triggers that no connection owns: kept on disk before they are acknowledged, and back after a restart (PD-51).
//
// They lie in the default store, `./data`, if a module of this engine uses it, and otherwise in the first store on disk
// that a module uses. An engine without one keeps them in memory, and logs that.

import type { DurableTrigger } from '../../router/port.ts';
import { runCommand, type Store } from '../../store/thread/contract.ts';
import type { ModuleContext } from '../module.ts';
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

type Context = Pick<ModuleContext, 'router' | 'stores' | 'logger'>;

export class DurableTriggers {
  readonly #context: Context;
  /** Set by `load`. */
  #store: Store | undefined;
  #hasWarned = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Binds the triggers that were bound when the engine ended. */
  async load(): Promise<void> {
    this.#store = this.#context.stores.durable;
    if (this.#store === undefined) return;
    for await (const row of storedRows(this.#store, 'triggers::list', PAGE_SIZE)) this.#restore(row);
  }

  /** Returns the id; rejects with the refusal of the provider or of the store. */
  async register(trigger: DurableTrigger): Promise<string> {
    const id = await this.#context.router.bindDurable(trigger);
    if (this.#store === undefined) {
      this.#warnOnce();
      return id;
    }
    const { type, functionId, config, metadata } = trigger;
    const row: Row = { id, type, function_id: functionId, config: config ?? null, metadata };
    try {
      await runCommand(this.#store, 'triggers::put', row);
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
    if (this.#store === undefined) return router.unbindDurable(id);
    return runCommand(this.#store, 'triggers::remove', { id }).then(() => router.unbindDurable(id));
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

function isRow(row: unknown): row is Row {
  if (typeof row !== 'object' || row === null) return false;
  const { id, type, function_id: functionId } = row as Partial<Row>;
  return typeof id === 'string' && typeof type === 'string' && typeof functionId === 'string';
}
