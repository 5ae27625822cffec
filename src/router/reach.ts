// The one place that says whether a function may be reached (X7). Calls ask here, whoever carries them out; so do
// registrations of triggers, whose targets run later, and the functions of the engine that show or name functions.

import type { Access, Registrations } from '../core/access.ts';
import type { FunctionFacts, FunctionTable } from '../core/function-table.ts';
import { type KeptRights, keptRights } from '../core/kept-rights.ts';
import { Refusal } from '../core/refusal.ts';
import { parseRawJson } from '../protocol/byte-string.ts';
import type { TriggerOrigin } from '../protocol/frames.ts';
import type { AnyBuiltin, Binding } from './builtin.ts';
import type { RouterContext } from './context.ts';
import type { Session } from './session.ts';

/** Why these rights do not reach the function; `undefined`: they do. Without rights everything is reached. */
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

/** What the owner of a trigger may have called by it: what it may call, and what it offers itself. */
export function mayTarget({ access, functions }: Session, functionId: string): boolean {
  return access === undefined || functions.has(functionId) || access.mayReach(functionId);
}

export function targetRefusal(owner: Session, functionId: string): Refusal | undefined {
  if (mayTarget(owner, functionId)) return undefined;
  return new Refusal('FORBIDDEN', `function '${shown(functionId)}' not allowed in namespace 'default'`);
}

/** Whether its owner could bind it today: what he may reach can have changed since. */
export function mayStillBind({ owner, type, functionId, config }: Binding): boolean {
  if (owner?.access === undefined) return true;
  const named = [functionId, ...functionsNamedIn(parseRawJson(config))];
  return owner.access.mayBindTo(type) && named.every((id) => mayTarget(owner, id));
}

/** On behalf of which trigger something is called: its binding, or of a job what was stored of it. */
export interface OfTrigger {
  readonly trigger?: TriggerOrigin | undefined;
  readonly binding?: Binding | undefined;
  /** Of a job whose trigger came by a restricted port. */
  readonly kept?: KeptRights | undefined;
}

/** What its jobs have to keep of who registered it; `undefined`: he may do everything. */
export function rightsToKeep({ owner }: Binding): KeptRights | undefined {
  return owner?.access && keptRights(owner.workerId, owner.access);
}

/** Whose trigger it is. Of one that left meanwhile, whose it was: leaving must not widen what is reached (X7). */
function ownerOf(context: RouterContext, { trigger, binding, kept }: OfTrigger): Session | undefined {
  // Whoever has a trigger of that id today may be somebody else.
  if (kept !== undefined) return context.sessions.get(kept.workerId);
  if (binding?.owner?.access !== undefined) return binding.owner;
  const id = binding?.id ?? trigger?.id;
  const present = id === undefined ? undefined : context.triggers.binding(id);
  return (present ?? binding)?.owner;
}

/** With whose rights a trigger calls a function: its owner's, as they are when it fires. */
export function rightsOfTrigger(context: RouterContext, of: OfTrigger, functionId: string): Access | undefined {
  const owner = ownerOf(context, of);
  const isOwn = owner?.state === 'open' && owner.functions.has(functionId);
  if (isOwn) return undefined;
  if (owner !== undefined || of.kept === undefined) return owner?.access;
  return context.portPolicies.restore(of.kept, registrationsOf(context.functions));
}

/** Whether it is the trigger of somebody who may not do everything. */
export function isRestricted(context: RouterContext, of: OfTrigger): boolean {
  return of.kept !== undefined || ownerOf(context, of)?.access !== undefined;
}

/** Whether whoever would run it came by a restricted port, where anybody may offer what nobody trusted does (X9). */
export function isOfStrangers({ functions }: RouterContext, functionId: string): boolean {
  const entry = functions.get(functionId);
  return entry?.kind === 'worker' && entry.executors.some(({ access }) => access !== undefined);
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

/** To whoever may not see it: the same whether it is there or not (X10). */
export function hiddenRefusal(kind: string, id: string): Refusal {
  return new Refusal('FORBIDDEN', `${kind} '${shown(id)}' is not there, or not for this connection`);
}

/** The functions there are, in the form in which verdicts go by them. */
export function registrationsOf(functions: FunctionTable<Session, AnyBuiltin>): Registrations {
  // Parsed once: a verdict on a function that is there takes no longer than on one that is not (X10).
  const known = new WeakMap<FunctionFacts, { readonly metadata: unknown }>();
  const metadataOf = (facts: FunctionFacts): unknown => {
    const parsed = known.get(facts) ?? { metadata: facts.metadata && parseRawJson(facts.metadata) };
    known.set(facts, parsed);
    return parsed.metadata;
  };
  return {
    get version() {
      return functions.version;
    },
    metadataOf(functionId) {
      const entry = functions.get(functionId);
      if (entry === undefined) return [];
      return entry.kind === 'builtin' ? [metadataOf(entry.facts)] : entry.facts.map(metadataOf);
    },
  };
}

/** An id is echoed, a text that is none only so far. */
function shown(functionId: string): string {
  return functionId.slice(0, SHOWN_CHARS_MAX);
}

const SHOWN_CHARS_MAX = 256;
