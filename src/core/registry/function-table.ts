// Which functions exist and who can run them.
//
// Job: registrations of workers and of the engine's own modules, looked up on every call.
// Neighbours: `router/registrations/functions.ts` writes worker registrations, `router/calls/invoke.ts` reads.
// Invariants:
//   - A function exists exactly while at least one live registration for its id exists, here or on another engine of
//     the cluster.
//   - A registration belongs to one executor; only that very object can remove it (W3).
//   - An id that a module provides cannot be registered by a worker.

import type { RawJson } from '../../protocol/json/byte-string.ts';
import { type Balance, type Candidates, type Executor, selectWorker } from '../calls/select-worker.ts';

/** A worker's description of its function; schemas are stored and shown, never enforced. */
export interface FunctionSpec {
  readonly description: string | undefined;
  readonly requestFormat: RawJson | undefined;
  readonly responseFormat: RawJson | undefined;
  readonly metadata: RawJson | undefined;
  /** Among all registrations of a cluster: a higher one is newer. Absent: newer than those that have one. */
  order?: number;
}

/**
 * Who offers a function, from the least to the most: connections of restricted ports, such connections whose granted
 * prefix covers the id, and trusted workers.
 */
export type Trust = 'restricted' | 'granted' | 'trusted';

/** Another engine of the cluster reaches the function. */
export interface RemoteOffer<R> {
  readonly engine: R;
  readonly trust: Trust;
  readonly metadata: RawJson | undefined;
  /** Of its newest registration. */
  readonly order: number;
  /** It has a description or schemas, which its engine is asked for when they are shown. */
  readonly isDescribed?: boolean | undefined;
  /** What lists show: of another router of this process at once, of another engine once it was asked for. */
  shown?: ShownOffer | undefined;
}

export interface ShownOffer extends Pick<FunctionSpec, 'description' | 'requestFormat' | 'responseFormat'> {
  /** The ids of the connections that offer it. */
  readonly workers: readonly string[];
}

/** `R`: another engine of the cluster. */
export interface WorkerFunction<E extends Executor, R = never> extends Candidates<E> {
  readonly kind: 'worker';
  readonly id: string;
  /** Empty where only other engines reach the function. */
  readonly executors: E[];
  readonly remotes: RemoteOffer<R>[];
  /** One entry for each executor, in the same order: its registration. The newest is shown. */
  readonly specs: FunctionSpec[];
  readonly balance: Balance;
}

export interface BuiltinFunction<B> {
  readonly kind: 'builtin';
  readonly id: string;
  readonly module: string;
  readonly spec: FunctionSpec;
  readonly handler: B;
}

export type FunctionEntry<E extends Executor, B, R = never> = WorkerFunction<E, R> | BuiltinFunction<B>;

export type RegisterOutcome =
  /** `isNew`: the id did not exist before. */
  { readonly ok: true; readonly isNew: boolean } | { readonly ok: false; readonly reason: string };

export class FunctionTable<E extends Executor, B, R = never> {
  readonly #entries = new Map<string, FunctionEntry<E, B, R>>();
  readonly #balanceOf: (functionId: string) => Balance;
  /** Called with the id when workers of this engine registered or withdrew a function. */
  readonly workerListeners = new Set<(functionId: string) => void>();
  #version = 0;

  constructor(balanceOf: (functionId: string) => Balance) {
    this.#balanceOf = balanceOf;
  }

  get(id: string): FunctionEntry<E, B, R> | undefined {
    return this.#entries.get(id);
  }

  all(): IterableIterator<FunctionEntry<E, B, R>> {
    return this.#entries.values();
  }

  /** Changes with every registration or removal. */
  get version(): number {
    return this.#version;
  }

  addBuiltin(entry: BuiltinFunction<B>): void {
    const known = this.#entries.get(entry.id);
    // A function of another engine gives way to one of a module of this engine.
    if (known !== undefined && (known.kind === 'builtin' || known.executors.length > 0)) {
      throw new Error(`Two modules provide the function ${entry.id}`);
    }
    this.#entries.set(entry.id, entry);
    this.#version++;
  }

  /** A module left: its functions are gone. */
  removeBuiltins(module: string): void {
    for (const entry of this.#entries.values()) {
      if (entry.kind === 'builtin' && entry.module === module) this.#entries.delete(entry.id);
    }
    this.#version++;
  }

  removeBuiltin(entry: BuiltinFunction<B>): void {
    if (this.#entries.get(entry.id) !== entry) return;
    this.#entries.delete(entry.id);
    this.#version++;
  }

  /** Upsert: a repeated registration of the same executor replaces its earlier one. */
  register(id: string, executor: E, spec: FunctionSpec): RegisterOutcome {
    this.#version++;
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#addEntry(id, { executors: [executor], specs: [spec], remotes: [] });
      this.#workersChanged(id);
      return { ok: true, isNew: true };
    }
    if (entry.kind === 'builtin') return { ok: false, reason: `'${id}' is provided by the module ${entry.module}` };
    const index = entry.executors.indexOf(executor);
    if (index >= 0) {
      entry.executors.splice(index, 1);
      entry.specs.splice(index, 1);
    } else if (entry.balance === 'reject_duplicates') {
      return { ok: false, reason: `'${id}' is already registered by another worker, and balance is reject_duplicates` };
    }
    entry.executors.push(executor);
    entry.specs.push(spec);
    this.#workersChanged(id);
    return { ok: true, isNew: false };
  }

  /** Removes the executor's own registration, if it has one. Returns whether the id ceased to exist. */
  unregister(id: string, executor: E): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.kind === 'builtin') return false;
    const index = entry.executors.indexOf(executor);
    if (index < 0) return false;
    this.#version++;
    entry.executors.splice(index, 1);
    entry.specs.splice(index, 1);
    entry.next = 0;
    this.#workersChanged(id);
    return this.#endIfUnreachable(entry);
  }

  /** Another engine reaches the function. Returns whether the id is new here. A function of a module stays its own. */
  offerRemotely(id: string, offer: RemoteOffer<R>): boolean {
    const known = this.#entries.get(id);
    if (known?.kind === 'builtin') return false;
    this.#version++;
    if (known === undefined) {
      this.#addEntry(id, { executors: [], specs: [], remotes: [offer] });
      return true;
    }
    this.#dropRemote(known, offer.engine);
    known.remotes.push(offer);
    return false;
  }

  /** That engine reaches it no longer. Returns whether the id ceased to exist. */
  withdrawRemotely(id: string, engine: R): boolean {
    const entry = this.#entries.get(id);
    if (entry?.kind !== 'worker' || !this.#dropRemote(entry, engine)) return false;
    this.#version++;
    return this.#endIfUnreachable(entry);
  }

  #workersChanged(id: string): void {
    for (const listener of this.workerListeners) listener(id);
  }

  #dropRemote({ remotes }: WorkerFunction<E, R>, engine: R): boolean {
    const index = remotes.findIndex((offer) => offer.engine === engine);
    if (index >= 0) remotes.splice(index, 1);
    return index >= 0;
  }

  /** The lists are made with what they hold: an array that grows takes room for 17. */
  #addEntry(id: string, lists: Pick<WorkerFunction<E, R>, 'executors' | 'specs' | 'remotes'>): void {
    this.#entries.set(id, { kind: 'worker', id, ...lists, balance: this.#balanceOf(id), next: 0 });
  }

  #endIfUnreachable({ id, executors, remotes }: WorkerFunction<E, R>): boolean {
    if (executors.length > 0 || remotes.length > 0) return false;
    this.#entries.delete(id);
    return true;
  }

  select(entry: WorkerFunction<E, R>): E | undefined {
    return selectWorker(entry, entry.balance);
  }
}

/** Reads the `balance` setting: one word for all, or a word per namespace (the first `::` segment of the id). */
export function balanceBy(setting: Balance | Readonly<Record<string, Balance>>): (functionId: string) => Balance {
  if (typeof setting === 'string') return () => setting;
  const byNamespace = new Map(Object.entries(setting));
  const fallback = byNamespace.get('default') ?? 'least_in_flight';
  return (functionId) => byNamespace.get(namespaceOf(functionId)) ?? fallback;
}

export function namespaceOf(functionId: string): string {
  const end = functionId.indexOf('::');
  return end < 0 ? functionId : functionId.slice(0, end);
}
