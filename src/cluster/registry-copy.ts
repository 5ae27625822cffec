// What all other engines offer, as the bucket of registrations reports it. A lookup stays one access to a map: the copy
// enters functions, triggers and trigger types into the tables of this engine.
//
// Invariant: an entry of another engine is in its table exactly while it is in the bucket and the engine is alive, in
// whatever order the two buckets report that.

import { isSamePrefix } from '../core/access/access.ts';
import { Refusal } from '../core/calls/refusal.ts';
import { keyPart, textOfPart } from '../core/cluster/bucket-keys.ts';
import type { RemoteOffer, ShownOffer } from '../core/registry/function-table.ts';
import { hasPrecedence, type Rival } from '../core/registry/precedence.ts';
import type { RemoteType } from '../core/registry/trigger-table.ts';
import type { BucketEntry, BucketWatch } from '../effects/nats/bucket.ts';
import { isFunctionValue, isTriggerTypeValue, isTriggerValue } from '../generated/cluster-values.ts';
import { asRawJson, detach, parseRawJson, type RawJson, textToByteString } from '../protocol/json/byte-string.ts';
import type { Binding, Removal } from '../router/builtin.ts';
import type { RouterContext } from '../router/context.ts';
import { rankOf, withdrawDuplicate, withdrawFromRestricted } from '../router/registrations/functions.ts';
import type { RemoteEngine } from '../router/remote/remote-engine.ts';
import { RemoteOwner } from '../router/remote/remote-owner.ts';
import { registrationsOf } from '../router/restricted/reach.ts';
import { Session } from '../router/session/session.ts';
import { bind, refusedTrigger, reordered, unbind, withdrawLostType } from '../router/triggers/triggers.ts';
import type { ShownFunction, TriggerValue } from './entry-values.ts';

type FunctionRegistration = { readonly kind: 'function'; readonly id: string } & Omit<
  RemoteOffer<RemoteEngine>,
  'engine'
>;

type Registration =
  | FunctionRegistration
  | { readonly kind: 'trigger'; readonly id: string; readonly value: TriggerValue; readonly order: number }
  | ({ readonly kind: 'trigger type'; readonly id: string } & Omit<RemoteType, 'engine'>);

export class RegistryCopy implements BucketWatch {
  readonly #context: RouterContext;
  readonly #ownId: string;
  readonly #engines = new Map<string, RemoteEngine>();
  /**
   * By engine, then by the rest of the key. Of a function that is entered, its id: the table of functions has the rest.
   */
  readonly #registrations = new Map<string, Map<string, Registration | string>>();
  /** Of triggers, by engine, then by the id of their connection. */
  readonly #owners = new Map<RemoteEngine, Map<string, RemoteOwner>>();
  /** Keys that came since the watch began; absent once it is complete. */
  #delivered: Set<string> | undefined;

  constructor(context: RouterContext, ownId: string) {
    this.#context = context;
    this.#ownId = ownId;
  }

  engineCame(engine: RemoteEngine): void {
    this.#engines.set(engine.id, engine);
    const ofEngine = this.#registrations.get(engine.id);
    for (const [key, kept] of ofEngine ?? []) {
      if (typeof kept !== 'string') ofEngine?.set(key, this.#enter(engine, kept));
    }
  }

  engineLeft(engineId: string): void {
    const engine = this.#engines.get(engineId);
    this.#engines.delete(engineId);
    const registrations = [...(this.#registrations.get(engineId)?.values() ?? [])];
    // Its entries are removed from the bucket without a report.
    this.#registrations.delete(engineId);
    if (engine === undefined) return;
    for (const registration of registrations) this.#remove(engine, registration);
    this.#owners.delete(engine);
  }

  begin(): void {
    this.#delivered = new Set();
  }

  /** A session with the engine begins: what it offers counts again. */
  engineUp(engine: RemoteEngine): void {
    for (const id of engine.functions) withdrawDuplicate(this.#context, id);
  }

  entry({ key, value, revision }: BucketEntry): void {
    const engineId = key.slice(0, Math.max(0, key.indexOf('.')));
    if (engineId === '' || engineId === this.#ownId) return;
    this.#delivered?.add(key);
    const registration = value === undefined ? undefined : readRegistration(key, value, revision);
    const rest = detach(key.slice(engineId.length + 1));
    if (registration === undefined) return this.#drop(engineId, rest);
    if (registration.kind === 'trigger' && registration.value.taken_back === true) {
      return this.#drop(engineId, rest, 'taken_back');
    }
    const engine = this.#engines.get(engineId);
    const kept = engine === undefined ? registration : this.#enter(engine, registration);
    const known = this.#registrations.get(engineId) ?? new Map<string, Registration | string>();
    this.#registrations.set(engineId, known.set(rest, kept));
  }

  complete(): void {
    const delivered = this.#delivered;
    this.#delivered = undefined;
    for (const [engineId, ofEngine] of this.#registrations) {
      for (const rest of [...ofEngine.keys()]) {
        if (delivered?.has(`${engineId}.${rest}`) !== true) this.#drop(engineId, rest);
      }
    }
  }

  stop(): void {
    for (const engineId of [...this.#engines.keys()]) this.engineLeft(engineId);
  }

  #drop(engineId: string, rest: string, removal: Removal = 'left'): void {
    const ofEngine = this.#registrations.get(engineId);
    const registration = ofEngine?.get(rest);
    if (ofEngine === undefined || registration === undefined) return;
    ofEngine.delete(rest);
    if (ofEngine.size === 0) this.#registrations.delete(engineId);
    const engine = this.#engines.get(engineId);
    if (engine !== undefined) this.#remove(engine, registration, removal);
  }

  /** Returns what has to be kept of it. */
  #enter(engine: RemoteEngine, registration: Registration): Registration | string {
    const { triggers } = this.#context;
    const { id } = registration;
    if (registration.kind === 'function') return this.#offer(engine, registration);
    if (registration.kind === 'trigger') this.#bind(engine, id, registration.value, registration.order);
    else {
      const { description, order, restricted } = registration;
      triggers.offerTypeRemotely(id, { engine, description, order, restricted });
      withdrawLostType(this.#context, id);
    }
    return registration;
  }

  #offer(engine: RemoteEngine, { id, metadata, order, trust, shown, isDescribed }: FunctionRegistration): string {
    const { functions, announce, reservations } = this.#context;
    // Its own engine takes it back when it sees the reservation.
    if (trust !== 'trusted' && reservations.has('function', id)) return id;
    engine.functions.add(id);
    const rank = rankOf(this.#context, id);
    withdrawFromRestricted(this.#context, id, trust);
    const isNew = functions.offerRemotely(id, { engine, metadata, order, trust, shown, isDescribed });
    if (isNew || rankOf(this.#context, id) > rank) announce.functionsChanged();
    withdrawDuplicate(this.#context, id);
    return id;
  }

  #remove(engine: RemoteEngine, kept: Registration | string, removal: Removal = 'left'): void {
    const { functions, announce, triggers, typeClaims } = this.#context;
    const { kind, id } = typeof kept === 'string' ? { kind: 'function', id: kept } : kept;
    if (kind === 'trigger type') {
      triggers.withdrawTypeRemotely(id, engine);
      return typeClaims.released([id]);
    }
    if (kind === 'trigger') {
      const binding = triggers.binding(engine.isRouter ? id : `${engine.id}/${id}`);
      // The copy of a newer identity may have entered it again: then it is no longer this one's.
      const owner = binding?.owner;
      const isOwn = owner instanceof RemoteOwner && owner.engine === engine;
      if (binding === undefined || !isOwn) return;
      unbind(this.#context, binding, removal);
      this.#forgetIfIdle(owner);
      if (engine.isRouter) this.#bindNext(id);
      return;
    }
    engine.functions.delete(id);
    if (functions.withdrawRemotely(id, engine)) announce.functionsChanged();
  }

  #bind(engine: RemoteEngine, id: string, value: TriggerValue, order: number): void {
    const owner = this.#ownerOf(engine, value);
    const known = this.#context.triggers.binding(owner.idOf(id));
    if (known?.owner === owner && isSame(known, value)) {
      known.order = order;
      return reordered(this.#context, known);
    }
    if (known !== undefined && !(known.owner instanceof RemoteOwner && known.owner.engine === engine)) {
      // The router that has lost the id finds that, too.
      if (hasPrecedence(rivalOf(known), rivalOf({ owner, order }))) return this.#forgetIfIdle(owner);
      refuseLoser(this.#context, owner, known);
    }
    owner.triggers.add(owner.idOf(id));
    const { binding, refusal } = bind(this.#context, {
      id: owner.idOf(id),
      type: value.type,
      functionId: value.function_id,
      config: rawOf(value.config),
      metadata: value.metadata === undefined ? undefined : rawOf(value.metadata),
      owner,
      order,
    });
    // A module that runs on every router has judged it at its owner.
    const provider = this.#context.triggers.type(value.type)?.provider;
    const isJudged = provider?.kind === 'module' && provider.module.isOnEveryRouter;
    if (refusal !== undefined && !isJudged) owner.send(refusedTrigger(binding, refusal));
    this.#forgetIfIdle(known?.owner);
  }

  /** The successor of a trigger may be announced by its router before the end of the one that had the id. */
  #bindNext(id: string): void {
    const { part } = keyPart(id);
    for (const [engineId, ofEngine] of this.#registrations) {
      const engine = this.#engines.get(engineId);
      for (const kept of [ofEngine.get(`t.${part}`), ofEngine.get(`r.${part}`)]) {
        if (engine?.isRouter !== true || typeof kept !== 'object' || kept.kind !== 'trigger') continue;
        this.#bind(engine, id, kept.value, kept.order);
      }
    }
  }

  #ownerOf(engine: RemoteEngine, { owner: workerId, sdk, durable, rights, prefix }: TriggerValue): RemoteOwner {
    const ofEngine = this.#owners.get(engine) ?? new Map<string, RemoteOwner>();
    this.#owners.set(engine, ofEngine);
    const known = ofEngine.get(workerId);
    if (known !== undefined) return known;
    const { portPolicies, functions } = this.#context;
    const access = rights && portPolicies.restore(rights, registrationsOf(functions), { functionPrefix: prefix });
    const owner = new RemoteOwner(engine, { workerId, isOwnSdk: sdk, isDurable: durable, access });
    ofEngine.set(workerId, owner);
    if (rights !== undefined) engine.restrictedOwners.add(workerId);
    return owner;
  }

  /** Connections come and go for ever. */
  #forgetIfIdle(owner: Binding['owner']): void {
    if (!(owner instanceof RemoteOwner) || owner.triggers.size > 0) return;
    const { engine, workerId } = owner;
    this.#owners.get(engine)?.delete(workerId);
    engine.restrictedOwners.delete(workerId);
  }
}

function rivalOf({ owner, order }: Pick<Binding, 'owner' | 'order'>): Rival {
  return { order, restricted: owner?.access && { prefix: owner.access.grant.functionPrefix } };
}

/** A restricted connection that asked too late learns it, as if the other one had been seen in time. */
function refuseLoser({ counters }: RouterContext, { access }: RemoteOwner, binding: Binding): void {
  const { owner } = binding;
  if (!(owner instanceof Session) || owner.access === undefined || access === undefined) return;
  if (isSamePrefix(owner.access.grant.functionPrefix, access.grant.functionPrefix)) return;
  counters.count('registrations.rejected');
  const text = 'The trigger id belongs to another connection; choose another id';
  owner.send(refusedTrigger(binding, new Refusal('FORBIDDEN', text)));
}

/** It has got another order, and is the same otherwise. */
function isSame(binding: Binding, { type, function_id, config, metadata }: TriggerValue): boolean {
  const isSameTarget = binding.type === type && binding.functionId === function_id;
  return isSameTarget && binding.config === rawOf(config) && binding.metadata === rawOrNone(metadata);
}

/** `undefined`: not an entry that this version knows. */
function readRegistration(key: string, text: string, revision: number): Registration | undefined {
  const [, kind, part] = key.split('.');
  if (part === undefined) return undefined;
  const value = parseRawJson(rawOf(text));
  if (kind === 'f' && isFunctionValue(value)) {
    const { id = textOfPart(part), metadata, first: order = revision, trust = 'trusted', shown, described } = value;
    const isDescribed = described !== undefined;
    const known = { metadata: rawOrNone(metadata), shown: shown && readShown(shown), isDescribed };
    return { kind: 'function', id, order, trust, ...known };
  }
  if ((kind === 'y' || kind === 'x') && isTriggerTypeValue(value)) {
    const { id = textOfPart(part), description, prefix, first: order = revision } = value;
    return { kind: 'trigger type', id, description, order, ...(kind === 'x' && { restricted: { prefix } }) };
  }
  return isKindOfTrigger(kind, value)
    ? { kind: 'trigger', id: value.id ?? textOfPart(part), value, order: value.first ?? revision }
    : undefined;
}

function isKindOfTrigger(kind: string | undefined, value: unknown): value is TriggerValue {
  if (!isTriggerValue(value)) return false;
  return value.rights === undefined ? kind === 't' : kind === 'r';
}

function readShown({ description, request, response, workers }: ShownFunction): ShownOffer {
  return { description, requestFormat: rawOrNone(request), responseFormat: rawOrNone(response), workers };
}

function rawOrNone(text: string | undefined): RawJson | undefined {
  return text === undefined ? undefined : rawOf(text);
}

function rawOf(text: string): RawJson {
  return asRawJson(textToByteString(text));
}
