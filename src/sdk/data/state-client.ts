// State for users of the SDK: entries by scope and key (SDK-5). Each method is one
// function call through `trigger`.

import type { Trigger, Untyped } from '../calls/call-types.ts';
import { isSvcError } from '../calls/errors.ts';
import type { FunctionDefinition, RegisteredFunction } from '../functions/function-definition.ts';
import type { RegisteredTrigger, TriggerDefinition } from '../triggers/trigger-definition.ts';
import type { UpdateError, UpdateOp } from './update-ops.ts';

/**
 * Values stored by the engine, by scope and key.
 *
 * @example
 * import { ops, registerWorker, type StateClient } from 'svc-sdk';
 *
 * interface User {
 *   name: string;
 *   visits: number;
 * }
 *
 * const svc = registerWorker();
 * const state: StateClient = svc.state;
 * await state.set<User>('users', 'ann', { name: 'Ann', visits: 0 });
 * const { new_value } = await state.update<User>('users', 'ann', ops.increment('visits'));
 * console.log(new_value?.visits);
 * for await (const { key, value } of state.list<User>('users')) console.log(key, value.name);
 */
export interface StateClient {
  /** The value; null if there is none. */
  get<T = Untyped>(scope: string, key: string): Promise<T | null>;
  /** The value with its version, which a later write can require. */
  getWithVersion<T = Untyped>(scope: string, key: string): Promise<StateVersion<T>>;
  /** Writes the value, even if it equals the old one; with a condition, only if that holds. */
  set<T = Untyped>(scope: string, key: string, value: T, condition?: StateCondition): Promise<StateChange<T>>;
  /** Returns the deleted value; null if there was none. */
  delete<T = Untyped>(scope: string, key: string, condition?: Pick<StateCondition, 'if_version'>): Promise<T | null>;
  /** Applies operations in order, in one step; one that fails is skipped and listed in `errors`. */
  update<T = Untyped>(scope: string, key: string, ...ops: readonly UpdateOp[]): Promise<StateUpdate<T>>;
  /**
   * The entries of a scope, ordered by the bytes of their keys, fetched page by page. Entries that exist from start to
   * end of the listing come exactly once; entries written or deleted during it may or may not come.
   */
  list<T = Untyped>(scope: string, options?: StateListOptions): AsyncIterableIterator<StateEntry<T>>;
  /** The scopes that hold entries, in order, page by page. */
  scopes(options?: Pick<StateListOptions, 'page_size'>): AsyncIterableIterator<string>;
  /**
   * Calls the handler whenever an entry changes: from `ready` on, in the order of the changes of each key. Changes made
   * while there is no connection are missed.
   */
  watch<T = Untyped>(filter: StateFilter, handler: (event: StateEvent<T>) => unknown): StateWatch;
}

/**
 * The condition of a write. If it does not hold, the write fails with `CONFLICT` and changes nothing. The engine checks
 * and writes in one step.
 *
 * @example
 * import { isSvcError, registerWorker, type StateCondition } from 'svc-sdk';
 *
 * const { state } = registerWorker();
 * const once: StateCondition = { if_absent: true };
 * await state.set('locks', 'import', { by: 'me' }, once).catch((error) => {
 *   if (!isSvcError(error) || error.code !== 'CONFLICT') throw error;
 *   console.log('another worker was first');
 * });
 */
export interface StateCondition {
  /** The entry does not exist. */
  readonly if_absent?: boolean;
  /** The entry still has this version; null: it still does not exist. */
  readonly if_version?: string | null;
}

/**
 * A value as it was read, and its version, which shows whether it has changed since.
 *
 * @example
 * import { registerWorker, type StateVersion } from 'svc-sdk';
 *
 * const { state } = registerWorker();
 * const read: StateVersion<string[]> = await state.getWithVersion('carts', 'ann');
 * await state.set('carts', 'ann', [...(read.value ?? []), 'tea'], { if_version: read.version });
 */
export interface StateVersion<T> {
  /** Null if there is none. */
  readonly value: T | null;
  /** Null if there is no value. */
  readonly version: string | null;
}

/**
 * The result of a write.
 *
 * @example
 * import { registerWorker, type StateChange } from 'svc-sdk';
 *
 * const change: StateChange<number> = await registerWorker().state.set('counters', 'orders', 5);
 * console.log(change.old_value ?? 'new', change.new_value);
 */
export interface StateChange<T> {
  /** Null if there was none. */
  readonly old_value: T | null;
  readonly new_value: T;
}

/**
 * The result of an update.
 *
 * @example
 * import { ops, registerWorker, type StateUpdate } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const update: StateUpdate<{ n: number }> = await svc.state.update('counters', 'orders', ops.increment('n'));
 * if (update.errors.length > 0) console.error(update.errors);
 */
export interface StateUpdate<T> {
  /** Null if there was none. */
  readonly old_value: T | null;
  /** Null if there still is none. */
  readonly new_value: T | null;
  /** The errors of the skipped operations; empty if all were applied. */
  readonly errors: readonly UpdateError[];
}

/**
 * One entry of a scope.
 *
 * @example
 * import { registerWorker, type StateEntry } from 'svc-sdk';
 *
 * const show = ({ key, value }: StateEntry<number>) => console.log(key, value);
 * for await (const entry of registerWorker().state.list<number>('counters')) show(entry);
 */
export interface StateEntry<T> {
  readonly key: string;
  readonly value: T;
}

/**
 * Options of a listing.
 *
 * @example
 * import { registerWorker, type StateListOptions } from 'svc-sdk';
 *
 * const small: StateListOptions = { page_size: 50 };
 * for await (const { key } of registerWorker().state.list('images', small)) console.log(key);
 */
export interface StateListOptions {
  /** Only keys with this prefix. */
  readonly prefix?: string;
  /** Entries per call: 1 to 10 000, default 500. A call fetches fewer if values are large. */
  readonly page_size?: number;
}

/**
 * The changes to watch. Without scope: changes of all scopes. Without key: changes of all keys.
 *
 * @example
 * import { registerWorker, type StateFilter } from 'svc-sdk';
 *
 * const oneOrder: StateFilter = { scope: 'orders', key: 'o-17' };
 * registerWorker().state.watch(oneOrder, ({ new_value }) => console.log(new_value));
 */
export interface StateFilter {
  readonly scope?: string;
  readonly key?: string;
  /** A function that is called first; if it returns false, the handler is not called. */
  readonly condition_function_id?: string;
}

/**
 * One change of an entry, as `state` triggers report it.
 *
 * @example
 * import { registerWorker, type StateEvent } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const changed = svc.registerFunction('orders::changed', ({ key, old_value, new_value }: StateEvent<number>) => {
 *   console.log(key, old_value, new_value);
 * });
 * svc.registerTrigger({ type: 'state', function_id: changed, config: { scope: 'orders' } });
 */
export interface StateEvent<T> {
  readonly type: 'state';
  /** `state:created` comes only from engines in drop-in mode. */
  readonly event_type: 'state:updated' | 'state:deleted' | 'state:created';
  readonly scope: string;
  readonly key: string;
  /** Null if there was none. */
  readonly old_value: T | null;
  /** Null if it was deleted. */
  readonly new_value: T | null;
  /** Unix milliseconds. */
  readonly timestamp: number;
  /** A later change of the entry has a greater number, on whichever engine it was made. */
  readonly seq: number;
}

/**
 * A running `watch`.
 *
 * @example
 * import { registerWorker, type StateWatch } from 'svc-sdk';
 *
 * const watch: StateWatch = registerWorker().state.watch({ scope: 'orders' }, ({ key }) => console.log(key));
 * await watch.ready();
 * watch.stop();
 */
export interface StateWatch {
  /** Resolves when the engine has accepted it; rejects with the reason when it refuses. */
  ready(): Promise<void>;
  stop(): void;
}

/** The part of a worker that its state client uses. */
export interface StateWorker {
  readonly trigger: Trigger;
  registerFunction(
    definition: FunctionDefinition,
    handler: (event: StateEvent<Untyped>) => Promise<void>,
  ): RegisteredFunction<unknown, void>;
  registerTrigger(definition: TriggerDefinition<'state'>): RegisteredTrigger;
}

const PAGE_SIZE_DEFAULT = 500;

export function createStateClient(worker: StateWorker, uuid: () => string): StateClient {
  const call = (name: string, payload: object): Promise<Untyped> =>
    worker.trigger({ function_id: `state::${name}`, payload });
  return {
    // In drop-in mode the call for a missing value has no result at all.
    get: async (scope, key) => (await call('get', { scope, key })) ?? null,
    getWithVersion: (scope, key) => call('get', { scope, key, include_version: true }),
    set: (scope, key, value, condition) => call('set', { ...conditionFields(condition), scope, key, value }),
    delete: async (scope, key, condition) =>
      (await call('delete', { ...conditionFields(condition), scope, key })) ?? null,
    update: async (scope, key, ...ops) => ({ errors: [], ...(await call('update', { scope, key, ops })) }),
    list: (scope, options) =>
      pages(
        options,
        ({ key }) => key,
        (page) => call('list', { scope, include_keys: true, prefix: options?.prefix, ...page }),
      ),
    scopes: (options) =>
      pages(
        options,
        (scope) => scope,
        async (page) => (await call('list_groups', page)).groups,
      ),
    watch: (filter, handler) => watch(worker, `state.watch::${uuid()}`, filter, handler),
  };
}

/** For the engine, a null version is "no entry", not "no condition". */
function conditionFields({ if_absent, if_version }: StateCondition = {}): StateCondition {
  if (if_version === null) return { if_absent: true };
  return { ...(if_absent !== undefined && { if_absent }), ...(if_version !== undefined && { if_version }) };
}

interface Page {
  readonly limit: number;
  /** The last name of the previous page; `undefined` for the first page. */
  readonly after: string | undefined;
}

async function* pages<Item>(
  { page_size = PAGE_SIZE_DEFAULT }: Pick<StateListOptions, 'page_size'> = {},
  nameOf: (item: Item) => string,
  fetch: (page: Page) => Promise<readonly Item[]>,
): AsyncIterableIterator<Item> {
  let limit = page_size;
  let after: string | undefined;
  for (;;) {
    let items: readonly Item[];
    try {
      items = await fetch({ limit, after });
    } catch (error) {
      if (!(isSvcError(error) && error.code === 'RESULT_TOO_LARGE') || limit === 1) throw error;
      limit = Math.ceil(limit / 2);
      continue;
    }
    yield* items;
    const last = items.at(-1);
    if (last === undefined || items.length < limit) return;
    after = nameOf(last);
  }
}

function watch<T>(
  worker: StateWorker,
  functionId: string,
  config: StateFilter,
  handler: (event: StateEvent<T>) => unknown,
): StateWatch {
  const definition = { id: functionId, description: 'Watches changes of the state', metadata: { internal: true } };
  // The engine discards what the handler returns, so it need not be JSON.
  const watcher = worker.registerFunction(definition, async (event: StateEvent<T>) => {
    await handler(event);
  });
  const trigger: RegisteredTrigger = worker.registerTrigger({ type: 'state', function_id: watcher, config });
  return {
    ready: () => trigger.ready(),
    stop() {
      trigger.unregister();
      watcher.unregister();
    },
  };
}
