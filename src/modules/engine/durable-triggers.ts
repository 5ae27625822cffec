// Triggers that no connection owns: kept on disk before they are acknowledged, and back after a restart (decisions 51).
//
// They lie in the default store, `./data`, where a module of this engine uses it, else in the first store on disk that
// a module uses. An engine without any keeps them in memory, and says so in its log.

import { Refusal } from '../../core/refusal.ts';
import { ERROR_CODES, type ErrorCode } from '../../protocol/errors.ts';
import type { DurableTrigger } from '../../router/port.ts';
import type { Store } from '../../store/contract.ts';
import type { ModuleContext } from '../module.ts';

/** 64 KiB each at most: a page stays below what a list may have. */
const PAGE_SIZE = 32;

interface Row {
  readonly id: string;
  readonly type: string;
  readonly function_id: string;
  readonly config: unknown;
  readonly metadata?: unknown;
}

type Parts = Pick<ModuleContext, 'router' | 'stores' | 'logger'>;

export class DurableTriggers {
  readonly #parts: Parts;
  /** Set by `load`. */
  #store: Store | undefined;
  #hasWarned = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Binds what was bound when the engine ended. */
  async load(): Promise<void> {
    this.#store = this.#parts.stores.durable;
    if (this.#store === undefined) return;
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const rows = await run(this.#store, 'triggers::list', { offset, limit: PAGE_SIZE });
      if (!Array.isArray(rows)) throw new Error('The list of durable triggers is no list');
      for (const row of rows) this.#restore(row);
      if (rows.length < PAGE_SIZE) return;
    }
  }

  /** Returns its id; rejects with the refusal of its provider, or of the store. */
  async register(trigger: DurableTrigger): Promise<string> {
    const id = await this.#parts.router.bindDurable(trigger);
    if (this.#store === undefined) {
      this.#warnOnce();
      return id;
    }
    const { type, functionId, config, metadata } = trigger;
    const row: Row = { id, type, function_id: functionId, config: config ?? null, metadata };
    try {
      await run(this.#store, 'triggers::put', row);
    } catch (error) {
      this.#parts.router.unbindDurable(id);
      throw error;
    }
    return id;
  }

  /** Whether it was there. */
  unregister(id: string): boolean | Promise<boolean> {
    const { router } = this.#parts;
    const binding = router.trigger(id);
    if (binding === undefined || binding.owner !== undefined) return false;
    if (this.#store === undefined) return router.unbindDurable(id);
    return run(this.#store, 'triggers::remove', { id }).then(() => router.unbindDurable(id));
  }

  #restore(row: unknown): void {
    if (!isRow(row)) throw new Error(`A durable trigger was written in another shape: ${JSON.stringify(row)}`);
    const { id, type, function_id: functionId, config, metadata } = row;
    const refusal = this.#parts.router.restoreDurable(id, { type, functionId, config, metadata });
    if (refusal === undefined) return;
    const facts = { trigger_id: id, trigger_type: type, function_id: functionId, reason: refusal.message };
    this.#parts.logger.warn('A durable trigger of an earlier run is refused now; it stays listed', facts);
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#parts.logger.warn('No module keeps data on disk: durable triggers are lost when the engine ends');
  }
}

/** What the command answers with, parsed; rejects with its refusal. */
function run(store: Store, command: string, input: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    store.run(command, Buffer.from(JSON.stringify(input)), ({ result, error }) => {
      if (error !== undefined) reject(new Refusal(codeOf(error.code), error.message));
      else resolve(result === undefined ? undefined : JSON.parse(Buffer.from(result).toString('utf8')));
    });
  });
}

function codeOf(code: string): ErrorCode {
  const known = Object.hasOwn(ERROR_CODES, code);
  // A key of the table is one of its keys.
  return known ? (code as ErrorCode) : 'invocation_failed';
}

function isRow(row: unknown): row is Row {
  if (typeof row !== 'object' || row === null) return false;
  const { id, type, function_id: functionId } = row as Partial<Row>;
  return typeof id === 'string' && typeof type === 'string' && typeof functionId === 'string';
}
