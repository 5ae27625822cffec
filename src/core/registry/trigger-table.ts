// Which trigger types exist, what provides them, and which triggers are bound to them.
//
// Job: keep types and bindings consistent in whatever order they arrive and leave.
// Neighbours: `router/triggers/triggers.ts` applies the verbs and sends the frames; `router/triggers/fire-trigger.ts`
// reads.
// States of a binding:
//   parked   its type has no provider; it waits and is handed over when one appears
//   bound    its provider has it
//   refused  its provider refused it; it stays listed with the reason until its owner leaves or the type returns
// Invariants:
//   - A binding is owned by one executor, or has no owner (durable); only that very object takes it along.
//   - A type has at most one provider. A module's type cannot be replaced by a worker. A worker of another engine
//     provides it only while none of this engine does.
//   - When a type's provider leaves, its bindings are parked, never lost.

import { createHash } from 'node:crypto';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { Executor } from '../calls/select-worker.ts';
import { Groups } from './groups.ts';

export interface TriggerTypeSpec {
  readonly description: string;
  /** JSON Schema of a binding's `config`, and of the payload a bound function receives. */
  readonly configFormat: RawJson | undefined;
  readonly payloadFormat: RawJson | undefined;
  /** Among all registrations of a cluster: a higher one is newer. Absent: newer than those that have one. */
  order?: number;
}

export interface TriggerType<E extends Executor, M> {
  readonly id: string;
  readonly spec: TriggerTypeSpec;
  readonly provider:
    | { readonly kind: 'worker'; readonly executor: E }
    | { readonly kind: 'module'; readonly module: M }
    | {
        readonly kind: 'engine';
        readonly engine: ProvidingEngine;
        readonly restricted: RestrictedProvider | undefined;
      };
}

/** A connection that is not trusted provides the type. */
export interface RestrictedProvider {
  /** The prefix that was granted to it. */
  readonly prefix: string | undefined;
}

/** Another engine of the cluster whose worker provides a type. It hands the bindings to that worker. */
export interface ProvidingEngine {
  /** The id of the engine that people see. */
  readonly shownId: string;
  /** It is another router of this process. */
  readonly isRouter?: boolean;
}

export interface RemoteType {
  readonly engine: ProvidingEngine;
  readonly description: string;
  /** Among all registrations of the cluster: a higher one is newer. */
  readonly order: number;
  /** Absent: a trusted one does. */
  readonly restricted?: RestrictedProvider | undefined;
}

/** `O`: who may own one: a connection, or one of another engine of the cluster. */
export interface TriggerBinding<O> {
  readonly id: string;
  readonly type: string;
  readonly functionId: string;
  readonly config: RawJson;
  /** The part of the config that has an effect: by it triggers are compared. */
  settings: RawJson;
  readonly metadata: RawJson | undefined;
  /** The connection that registered it; `undefined` for a durable one. */
  readonly owner: O | undefined;
  /** Function that is asked before each call of the target; set by a module's type when it accepts the config. */
  conditionFunctionId: string | undefined;
  state: 'parked' | 'bound' | 'refused';
  /** A newer binding has the place that this one requests; this one gets it back when the newer one leaves (PD-26). */
  isDisplaced: boolean;
  /** Why it was refused, or why its last firing never reached the handler. */
  error: string | undefined;
  lastFiredAtMs: number | undefined;
  /** Among all triggers of a cluster: a higher one is newer. `undefined`: newer than those that have one. */
  order: number | undefined;
  /** A digest of its effect and its settings; built when it is first compared. */
  face: string | undefined;
}

export type NewBinding<O> = Pick<TriggerBinding<O>, 'id' | 'type' | 'functionId' | 'config' | 'metadata' | 'owner'> & {
  readonly order?: number;
};

export class TriggerTable<E extends Executor, M, O extends object = E> {
  /** Called when a trigger was added, removed, or judged. */
  readonly bindingListeners = new Set<(binding: TriggerBinding<O>, isTakenBack: boolean) => void>();
  /** Called with the id when a worker of this engine began or ceased to provide a type. */
  readonly typeListeners = new Set<(id: string) => void>();
  readonly #types = new Map<string, TriggerType<E, M>>();
  readonly #remoteTypes = new Map<string, RemoteType[]>();
  readonly #bindings = new Map<string, TriggerBinding<O>>();
  readonly #byType = new Groups<string, TriggerBinding<O>>();
  readonly #byOwner = new Groups<O | undefined, TriggerBinding<O>>();
  readonly #byFunction = new Groups<string, TriggerBinding<O>>();
  #version = 0;

  /** Changes with every change of the table. */
  get version(): number {
    return this.#version;
  }

  type(id: string): TriggerType<E, M> | undefined {
    return this.#types.get(id);
  }

  types(): IterableIterator<TriggerType<E, M>> {
    return this.#types.values();
  }

  binding(id: string): TriggerBinding<O> | undefined {
    return this.#bindings.get(id);
  }

  bindings(): IterableIterator<TriggerBinding<O>> {
    return this.#bindings.values();
  }

  bindingsOf(type: string): ReadonlySet<TriggerBinding<O>> {
    return this.#byType.of(type);
  }

  bindingsTo(functionId: string): ReadonlySet<TriggerBinding<O>> {
    return this.#byFunction.of(functionId);
  }

  addModuleType(id: string, spec: TriggerTypeSpec, module: M): void {
    const known = this.#types.get(id)?.provider.kind ?? 'engine';
    if (known !== 'engine') throw new Error(`Two modules provide the trigger type ${id}`);
    this.#types.set(id, { id, spec, provider: { kind: 'module', module } });
  }

  /** The newest provider wins. Returns whether the type is now this executor's. */
  registerType(id: string, executor: E, spec: TriggerTypeSpec): boolean {
    if (this.#types.get(id)?.provider.kind === 'module') return false;
    this.#types.set(id, { id, spec, provider: { kind: 'worker', executor } });
    this.#version++;
    this.#typeChanged(id);
    return true;
  }

  /** A worker of another engine provides the type. */
  offerTypeRemotely(id: string, offer: RemoteType): void {
    const others = this.remoteTypes(id).filter(({ engine }) => engine !== offer.engine);
    this.#remoteTypes.set(id, [...others, offer].sort(byPrecedence));
    this.#provideRemotely(id);
  }

  withdrawTypeRemotely(id: string, engine: ProvidingEngine): void {
    const rest = this.remoteTypes(id).filter((offer) => offer.engine !== engine);
    if (rest.length > 0) this.#remoteTypes.set(id, rest);
    else this.#remoteTypes.delete(id);
    const provider = this.#types.get(id)?.provider;
    if (provider?.kind === 'engine' && provider.engine === engine) this.#park(id);
  }

  /** The one that provides it comes last. */
  remoteTypes(id: string): readonly RemoteType[] {
    return this.#remoteTypes.get(id) ?? [];
  }

  /** The bindings of a type that no worker or module of this engine provides are bound at the other engine. */
  #provideRemotely(id: string): void {
    const offer = this.remoteTypes(id).at(-1);
    const before = this.#types.get(id)?.provider;
    if (offer === undefined || (before !== undefined && before.kind !== 'engine')) return;
    const { engine, description, restricted } = offer;
    const spec = { description, configFormat: undefined, payloadFormat: undefined };
    this.#types.set(id, { id, spec, provider: { kind: 'engine', engine, restricted } });
    this.#version++;
    const isSame = before?.kind === 'engine' && before.engine === engine;
    for (const binding of this.bindingsOf(id)) {
      if (isSame && binding.state === 'refused') continue;
      // A refusal of the provider before says nothing of this one.
      binding.error = undefined;
      binding.state = binding.owner === undefined && !takesDurable(id, restricted) ? 'parked' : 'bound';
    }
  }

  /** Removes the type if it belongs to this executor, and parks its bindings. */
  unregisterType(id: string, executor: E): void {
    if (this.isProvider(id, executor)) this.#park(id);
  }

  /** Removes a type of a module, and parks its bindings. */
  removeModuleType(id: string): void {
    if (this.#types.get(id)?.provider.kind === 'module') this.#park(id);
  }

  /** All triggers of an owner. */
  bindingsOwnedBy(owner: O): ReadonlySet<TriggerBinding<O>> {
    return this.#byOwner.of(owner);
  }

  #park(id: string): void {
    this.#version++;
    this.#types.delete(id);
    for (const binding of this.bindingsOf(id)) {
      binding.state = 'parked';
      binding.error = undefined;
    }
    this.#typeChanged(id);
    this.#provideRemotely(id);
  }

  isProvider(typeId: string, executor: E): boolean {
    const provider = this.#types.get(typeId)?.provider;
    return provider?.kind === 'worker' && provider.executor === executor;
  }

  /** The number of triggers without an owner. */
  get durableCount(): number {
    return this.#byOwner.of(undefined).size;
  }

  /**
   * Stores the binding as parked; returns the one with the same id that it replaces, because a reconnecting owner
   * replays.
   */
  add(binding: NewBinding<O>): { added: TriggerBinding<O>; replaced: TriggerBinding<O> | undefined } {
    this.#version++;
    const replaced = this.#bindings.get(binding.id);
    if (replaced !== undefined) {
      // Of the same owner it is one change.
      if (replaced.owner === binding.owner) this.#detach(replaced);
      else this.remove(replaced);
    }
    const added: TriggerBinding<O> = {
      order: undefined,
      ...binding,
      settings: binding.config,
      conditionFunctionId: undefined,
      state: 'parked',
      isDisplaced: false,
      error: undefined,
      lastFiredAtMs: undefined,
      face: undefined,
    };
    this.#bindings.set(added.id, added);
    this.#byType.add(added.type, added);
    this.#byFunction.add(added.functionId, added);
    this.#byOwner.add(added.owner, added);
    this.#bindingChanged(added);
    return { added, replaced };
  }

  /** `isTakenBack`: its owner has removed it, and not only left. */
  remove(binding: TriggerBinding<O>, isTakenBack = false): void {
    this.#version++;
    this.#detach(binding);
    this.#bindingChanged(binding, isTakenBack);
  }

  #typeChanged(id: string): void {
    for (const listener of this.typeListeners) listener(id);
  }

  #bindingChanged(binding: TriggerBinding<O>, isTakenBack = false): void {
    for (const listener of this.bindingListeners) listener(binding, isTakenBack);
  }

  #detach(binding: TriggerBinding<O>): void {
    if (this.#bindings.get(binding.id) === binding) this.#bindings.delete(binding.id);
    this.#byType.remove(binding.type, binding);
    this.#byFunction.remove(binding.functionId, binding);
    this.#byOwner.remove(binding.owner, binding);
  }

  /** Everything that the executor owns or provides leaves, in one step (W2). Returns its own bindings. */
  withdraw(executor: E & O): TriggerBinding<O>[] {
    const removed = [...this.#byOwner.of(executor)];
    for (const binding of removed) this.remove(binding);
    for (const type of [...this.#types.keys()]) this.unregisterType(type, executor);
    return removed;
  }
}

/**
 * The bindings to fire for one event: equal ones of different owners count once (PD-26), so that two replicas of a
 * worker do not double every event. An owner that binds the same trigger twice gets it twice.
 */
export function distinctBindings<O>(bindings: Iterable<TriggerBinding<O>>): TriggerBinding<O>[] {
  const bound = [...bindings].filter(({ state }) => state === 'bound');
  return bound.length < 2 ? bound : equalBindings(bound).map(([first]) => first);
}

/** Those of which one is to fire, together; the oldest first. */
export function equalBindings<O>(
  bound: Iterable<TriggerBinding<O>>,
): (readonly [TriggerBinding<O>, ...TriggerBinding<O>[]])[] {
  const groups = new Map<string, [TriggerBinding<O>, ...TriggerBinding<O>[]]>();
  const countByOwner = new Map<O | undefined, Map<string, number>>();
  for (const binding of bound) {
    binding.face ??= faceOf(binding);
    const { face } = binding;
    const counts = countByOwner.get(binding.owner) ?? new Map<string, number>();
    countByOwner.set(binding.owner, counts);
    const ordinal = counts.get(face) ?? 0;
    counts.set(face, ordinal + 1);
    const key = `${ordinal} ${face}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [binding]);
    else group.push(binding);
  }
  return [...groups.values()];
}

/** Short: it is compared at every event, and config and metadata may have 64 KiB. */
function faceOf({ functionId, settings, metadata }: TriggerBinding<unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify([functionId, settings, metadata ?? null]))
    .digest('base64');
}

/**
 * A durable trigger is trusted work: it waits where a connection that is not trusted provides its type, unless the type
 * lies under the prefix granted to that connection.
 */
export function takesDurable(type: string, restricted: RestrictedProvider | undefined): boolean {
  return restricted === undefined || (restricted.prefix !== undefined && type.startsWith(`${restricted.prefix}::`));
}

/** Trusted providers come after the others. Of them the newest has the type, of the others the oldest. */
function byPrecedence(one: RemoteType, other: RemoteType): number {
  if ((one.restricted === undefined) !== (other.restricted === undefined)) return one.restricted === undefined ? 1 : -1;
  return one.restricted === undefined ? one.order - other.order : other.order - one.order;
}
