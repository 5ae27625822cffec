// State for users of the SDK: entries by scope and key (SDK-5). Thin over `trigger`; every call is one function call.

import { isSvcError } from './errors.ts';
import type { SvcWorker } from './svc-worker.ts';
import type { Untyped } from './target.ts';
import type { RegisteredTrigger } from './trigger-definition.ts';
import type { UpdateError, UpdateOp } from './update-ops.ts';

/**
 * Values kept by the engine, by scope and key.
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
  /** The value; null when there is none. */
  get<T = Untyped>(scope: string, key: string): Promise<T | null>;
  /** The value together with the version that a later write may ask for. */
  getWithVersion<T = Untyped>(scope: string, key: string): Promise<StateVersion<T>>;
  /** Writes the value, whether it is new or equal to the old one; or only if the condition holds. */
  set<T = Untyped>(scope: string, key: string, value: T, condition?: StateCondition): Promise<StateChange<T>>;
  /** Returns the value that was there; null when there was none. */
  delete<T = Untyped>(scope: string, key: string, condition?: Pick<StateCondition, 'if_version'>): Promise<T | null>;
  /** Operations in their order, in one step; one that fails is skipped and stands in `errors`. */
  update<T = Untyped>(scope: string, key: string, ...ops: readonly UpdateOp[]): Promise<StateUpdate<T>>;
  /**
   * The entries of a scope, ordered by the bytes of their keys, fetched page by page. Entries that are there from
   * beginning to end come exactly once; those written or deleted meanwhile may or may not come.
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
 * What must be so for a write to happen. Where it is not, the write fails with `CONFLICT` and changes nothing; look and
 * write are one step of the engine.
 *
 * @example
 * import { isSvcError, registerWorker, type StateCondition } from 'svc-sdk';
 *
 * const { state } = registerWorker();
 * const once: StateCondition = { if_absent: true };
 * await state.set('locks', 'import', { by: 'me' }, once).catch((error) => {
 *   if (!isSvcError(error) || error.code !== 'CONFLICT') throw error;
 *   console.log('somebody else was first');
 * });
 */
export interface StateCondition {
  /** There is no such entry. */
  readonly if_absent?: boolean;
  /** The entry is still the one that was read with this version; null: there still is none. */
  readonly if_version?: string | null;
}

/**
 * A value as it was read, and the version that tells whether it is still the same.
 *
 * @example
 * import { registerWorker, type StateVersion } from 'svc-sdk';
 *
 * const { state } = registerWorker();
 * const read: StateVersion<string[]> = await state.getWithVersion('carts', 'ann');
 * await state.set('carts', 'ann', [...(read.value ?? []), 'tea'], { if_version: read.version });
 */
export interface StateVersion<T> {
  /** Null when there is none. */
  readonly value: T | null;
  /** Null when there is no value. */
  readonly version: string | null;
}

/**
 * What a write did.
 *
 * @example
 * import { registerWorker, type StateChange } from 'svc-sdk';
 *
 * const change: StateChange<number> = await registerWorker().state.set('counters', 'orders', 5);
 * console.log(change.old_value ?? 'new', change.new_value);
 */
export interface StateChange<T> {
  /** Null when there was none. */
  readonly old_value: T | null;
  readonly new_value: T;
}

/**
 * What an update did.
 *
 * @example
 * import { ops, registerWorker, type StateUpdate } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const update: StateUpdate<{ n: number }> = await svc.state.update('counters', 'orders', ops.increment('n'));
 * if (update.errors.length > 0) console.error(update.errors);
 */
export interface StateUpdate<T> {
  /** Null when there was none. */
  readonly old_value: T | null;
  /** Null when there still is none. */
  readonly new_value: T | null;
  /** Of the operations that were skipped; empty when all applied. */
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
 * How a list is fetched.
 *
 * @example
 * import { registerWorker, type StateListOptions } from 'svc-sdk';
 *
 * const small: StateListOptions = { page_size: 50 };
 * for await (const { key } of registerWorker().state.list('images', small)) console.log(key);
 */
export interface StateListOptions {
  /** Only keys that begin with this. */
  readonly prefix?: string;
  /** Entries of one call: 1 to 10 000, default 500. Fewer are fetched at once where values are large. */
  readonly page_size?: number;
}

/**
 * Which changes to hear of; without scope those of all scopes, without key those of all keys.
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
  /** A function that is asked first; if it answers false, the handler is not called. */
  readonly condition_function_id?: string;
}

/**
 * One change of an entry, as `state` triggers tell it.
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
  /** `state:created` only from engines in drop-in mode. */
  readonly event_type: 'state:updated' | 'state:deleted' | 'state:created';
  readonly scope: string;
  readonly key: string;
  /** Null when there was none. */
  readonly old_value: T | null;
  /** Null when it was deleted. */
  readonly new_value: T | null;
  /** Unix milliseconds. */
  readonly timestamp: number;
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
  /** Resolves when the engine has taken it; rejects with its reason when it refused. */
  ready(): Promise<void>;
  stop(): void;
}

type Parts = Pick<SvcWorker, 'trigger' | 'registerFunction' | 'registerTrigger'>;

const PAGE_SIZE_DEFAULT = 500;

export function createStateClient(worker: Parts, uuid: () => string): StateClient {
  const call = (name: string, payload: object): Promise<Untyped> =>
    worker.trigger({ function_id: `state::${name}`, payload });
  return {
    // In drop-in mode a missing value is no result at all.
    get: async (scope, key) => (await call('get', { scope, key })) ?? null,
    getWithVersion: (scope, key) => call('get', { scope, key, include_version: true }),
    set: (scope, key, value, condition) => call('set', { ...wordsOf(condition), scope, key, value }),
    delete: async (scope, key, condition) => (await call('delete', { ...wordsOf(condition), scope, key })) ?? null,
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

/** To the engine, no version is no condition. */
function wordsOf({ if_absent, if_version }: StateCondition = {}): StateCondition {
  if (if_version === null) return { if_absent: true };
  return { ...(if_absent !== undefined && { if_absent }), ...(if_version !== undefined && { if_version }) };
}

interface Page {
  readonly limit: number;
  /** Name of the last item of the page before; `undefined` for the first page. */
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
  worker: Parts,
  functionId: string,
  config: StateFilter,
  handler: (event: StateEvent<T>) => unknown,
): StateWatch {
  const definition = { id: functionId, description: 'Hears of changes of the state', metadata: { internal: true } };
  // What the handler returns is its own: nobody waits for it, and it need not be JSON.
  const told = worker.registerFunction(definition, async (event: StateEvent<T>) => {
    await handler(event);
  });
  const trigger: RegisteredTrigger = worker.registerTrigger({ type: 'state', function_id: told, config });
  return {
    ready: () => trigger.ready(),
    stop() {
      trigger.unregister();
      told.unregister();
    },
  };
}
