// The one place that decides whether a function may be reached (X7). All calls are checked here; so are registrations
// of triggers, whose targets run later, and the engine's functions that list or name functions.

import type { Access, Registrations } from '../../core/access/access.ts';
import { type KeptRights, keptRights } from '../../core/access/kept-rights.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import type { FunctionSpec } from '../../core/registry/function-table.ts';
import type { TriggerOrigin } from '../../protocol/frames/frames.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import type { Binding, TriggerOwner } from '../builtin.ts';
import type { RouterContext } from '../context.ts';
import { allOthers, usableOffers } from '../remote/offers.ts';
import type { OwnerElsewhere } from '../remote/remote-engine.ts';
import { RemoteOwner } from '../remote/remote-owner.ts';
import type { Session } from '../session/session.ts';
import { coveringExecutors } from './covering.ts';

/** Why these rights do not reach the function; `undefined`: they do. Without rights everything is reachable. */
export function reachRefusal(rights: Access | undefined, functionId: string): Refusal | undefined {
  if (rights === undefined) return undefined;
  const reach = rights.reach(functionId);
  if (reach === 'allowed') return undefined;
  return new Refusal('FORBIDDEN', `function '${shown(functionId)}' not allowed (${ADVICE[reach]})`);
}

const ADVICE = {
  hidden: 'add to rbac.expose_functions',
  forbidden: 'remove from rbac.forbidden_functions',
  never: 'for trusted connections alone',
} as const;

/** What a trigger may call for its owner: what the owner may call, and what it offers itself. */
export function mayTarget({ access, functions }: Session, functionId: string): boolean {
  return access === undefined || functions.has(functionId) || access.mayReach(functionId);
}

export function targetRefusal(owner: Session, functionId: string): Refusal | undefined {
  if (mayTarget(owner, functionId)) return undefined;
  return new Refusal('FORBIDDEN', `function '${shown(functionId)}' not allowed in namespace 'default'`);
}

/** Whether its owner could create it today: the owner's rights can have changed since. */
export function mayStillBind({ owner, type, functionId, config }: Binding): boolean {
  if (owner?.access === undefined || owner instanceof RemoteOwner) return true;
  if (!owner.access.mayBindTo(type)) return false;
  return [functionId, ...functionsNamedIn(parseRawJson(config))].every((id) => mayTarget(owner, id));
}

/** The trigger on whose behalf a function is called: its binding or, for a job, what was stored of it. */
export interface OfTrigger {
  readonly trigger?: TriggerOrigin | undefined;
  readonly binding?: Binding | undefined;
  /** Of a job whose trigger was registered on a restricted port. */
  readonly kept?: KeptRights | undefined;
}

/** What its jobs have to keep of its owner; `undefined`: the owner may do everything. */
export function rightsToKeep({ owner }: Binding): KeptRights | undefined {
  return owner?.access && keptRights(owner.workerId, owner.access);
}

/**
 * The owner of the trigger. For a trigger that left meanwhile, its former owner: leaving must not widen what is reached
 * (X7). The id of the trigger says nothing, because another connection may have it today. A job without kept rights is
 * of trusted origin.
 */
function ownerOf(context: RouterContext, { binding, kept }: OfTrigger): TriggerOwner | undefined {
  return kept === undefined ? binding?.owner : context.sessions.get(kept.workerId);
}

/** The rights with which a trigger calls a function: its owner's, as they are when it fires. */
export function rightsOfTrigger(context: RouterContext, of: OfTrigger, functionId: string): Access | undefined {
  const owner = ownerOf(context, of);
  if (owner !== undefined || of.kept === undefined) return owner && rightsFor(owner, functionId);
  return context.portPolicies.restore(of.kept, registrationsOf(context.functions));
}

/** What it offers itself, a connection reaches by its triggers. What one of another engine offers is known there. */
export function rightsFor(owner: TriggerOwner, functionId: string): Access | undefined {
  const isItsOwn = !(owner instanceof RemoteOwner) && owner.state === 'open' && owner.functions.has(functionId);
  return isItsOwn ? undefined : owner.access;
}

/**
 * The restricted connection of another engine that has to judge a call of its trigger: what it offers itself, and what
 * its port allows now, is known there. Of a job, if the rights that were kept do not reach the function. One that has
 * left is judged here, by what was granted to it.
 */
export function judgeElsewhere(
  context: RouterContext,
  { binding, kept, functionId }: OfTrigger & { readonly functionId: string },
  rights: Access | undefined,
): OwnerElsewhere | undefined {
  const owner = binding?.owner;
  if (kept === undefined) return owner instanceof RemoteOwner && owner.isThere ? owner : undefined;
  const { workerId } = kept;
  if (context.sessions.has(workerId) || rights?.mayReach(functionId) !== false) return undefined;
  const engine = allOthers(context).find(({ restrictedOwners }) => restrictedOwners.has(workerId));
  return engine && { engine, workerId };
}

/**
 * Of equal triggers the first stands for all. One of a restricted connection may reach less than a trusted one, and one
 * of another engine may not be reached.
 */
export function trustedFirst(bindings: Iterable<Binding>): readonly Binding[] {
  const all = [...bindings];
  const trusted = all.filter(({ owner }) => owner?.access === undefined);
  if (trusted.length === all.length) return all;
  return [...new Set([...trusted, ...all.filter(({ owner }) => !(owner instanceof RemoteOwner)), ...all])];
}

/** Whether the owner of the trigger has restricted rights. */
export function isRestricted(context: RouterContext, of: OfTrigger): boolean {
  return of.kept !== undefined || ownerOf(context, of)?.access !== undefined;
}

/**
 * Whether the connection that would run it is on a restricted port, where any client may offer a function that no
 * trusted worker offers (X9).
 */
export function isOfRestricted({ functions }: RouterContext, functionId: string): boolean {
  const entry = functions.get(functionId);
  if (entry?.kind !== 'worker') return false;
  if (entry.executors.length > 0) return entry.executors.some(({ access }) => access !== undefined);
  return !entry.remotes.some(({ trust }) => trust === 'trusted');
}

/** Whether a job of the function can run now. */
export function isOffered(context: RouterContext, functionId: string, isTrustedWork: boolean): boolean {
  const entry = context.functions.get(functionId);
  if (entry === undefined) return false;
  if (entry.kind === 'builtin') return true;
  const isLocal = entry.executors.length > 0;
  if (isLocal && (!isTrustedWork || !isOfRestricted(context, functionId))) return true;
  if (isLocal && coveringExecutors(entry).length > 0) return true;
  return usableOffers(entry, isTrustedWork).some(({ engine }) => engine.isUp);
}

/** Every function that the config of a trigger names, such as its condition, at any depth. */
export function functionsNamedIn(config: unknown): readonly string[] {
  if (typeof config !== 'object' || config === null) return [];
  return Object.entries(config).flatMap(([key, value]) => {
    if (!NAMES_FUNCTIONS.test(key)) return functionsNamedIn(value);
    return (Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string');
  });
}

const NAMES_FUNCTIONS = /function_ids?$/;

/** Whether a trigger may be shown to these rights: neither its target nor what its config names is hidden. */
export function mayBeShown(rights: Access | undefined, { functionId, config }: Binding): boolean {
  if (rights === undefined) return true;
  return [functionId, ...functionsNamedIn(parseRawJson(config))].every((id) => rights.mayReach(id));
}

/** The answer to a caller without access is the same whether it exists or not (X10). */
export function hiddenRefusal(kind: string, id: string): Refusal {
  return new Refusal('FORBIDDEN', `${kind} '${shown(id)}' is not there, or not for this connection`);
}

/** The existing functions, in the form that verdicts are based on. */
export function registrationsOf(functions: RouterContext['functions']): Registrations {
  // Parsed once: a verdict on an existing function takes no longer than on a missing one (X10).
  const known = new WeakMap<Described, { readonly metadata: unknown }>();
  const metadataOf = (spec: Described): unknown => {
    const parsed = known.get(spec) ?? { metadata: spec.metadata && parseRawJson(spec.metadata) };
    known.set(spec, parsed);
    return parsed.metadata;
  };
  return {
    get version() {
      return functions.version;
    },
    metadataOf(functionId) {
      const entry = functions.get(functionId);
      if (entry === undefined) return [];
      if (entry.kind === 'builtin') return [metadataOf(entry.spec)];
      return [...entry.specs, ...entry.remotes].map(metadataOf);
    },
  };
}

type Described = Pick<FunctionSpec, 'metadata'>;

/** A valid id is echoed in full, any other text shortened. */
function shown(functionId: string): string {
  return functionId.slice(0, SHOWN_CHARS_MAX);
}

const SHOWN_CHARS_MAX = 256;
