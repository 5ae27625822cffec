// Frames of connections that are not fully trusted. A frame that passes here is handled as if a trusted connection had
// sent it, under the effective names: prefix and hooks are already applied (wire 8.5).

import { type Access, coversId, isReserved, isReservedType } from '../../core/access/access.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import type {
  RegisterFunction,
  RegisterTrigger,
  RegisterTriggerType,
  WorkerFrame,
} from '../../protocol/frames/frames.ts';
import { detach, parseRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { RouterContext } from '../context.ts';
import { rejectFunction } from '../registrations/functions.ts';
import type { Session } from '../session/session.ts';
import { refuseTrigger, rejectType, restrictedProvider, triggerOffence, typeOffence } from '../triggers/triggers.ts';
import { coveringExecutors } from './covering.ts';
import type { Guard } from './guard.ts';
import { admitCall, chargeMessage } from './guarded-calls.ts';
import { CLAIM_MS, type IdClaims } from './id-claims.ts';
import { functionsNamedIn, targetRefusal } from './reach.ts';
import { askHook, type Changes, inTurn } from './registration-hooks.ts';

type Frame = WorkerFrame<RawJson>;
type Act = (frame: Frame) => void;

/** A registration of a restricted connection, while it is decided. */
interface Registration {
  readonly context: RouterContext;
  readonly session: Session;
  readonly guard: Guard;
  readonly access: Access;
  readonly act: Act;
}

export function guardFrame(context: RouterContext, session: Session, guard: Guard, frame: Frame, act: Act): void {
  if (frame.type === 'invokefunction') {
    const caller = frame.invocation_id === undefined || frame.action?.type === 'void' ? undefined : session;
    if (admitCall(context, session, guard, caller, frame.invocation_id ?? '')) act(frame);
    return;
  }
  const isInTime = chargeMessage(context, session, guard);
  // Calls must end, so answers are accepted at any rate.
  if (frame.type === 'invocationresult' && session.state === 'open') return act(frame);
  const { access } = guard.rules;
  if (access === undefined) return act(frame);
  if (!REGISTRATIONS.has(frame.type)) {
    if (isInTime) act(frame);
    return;
  }
  const registration: Registration = { context, session, guard, access, act };
  const refusal = new Refusal('RATE_LIMITED', 'This connection exceeds its message rate; slow down');
  if (!isInTime) return answerRefused(registration, frame, refusal);
  const { bytes, frame: kept } = detached(frame);
  if (!inTurn(guard, { bytes, run: () => admit(registration, kept) })) {
    answerRefused(
      registration,
      frame,
      new Refusal('OVERLOADED', 'Too many registrations wait for the hooks of this port'),
    );
  }
}

/** Frames that keep their order while a hook is asked. */
const REGISTRATIONS: ReadonlySet<Frame['type']> = new Set([
  'registerfunction',
  'registertrigger',
  'registertriggertype',
  'unregisterfunction',
  'unregistertrigger',
  'unregistertriggertype',
  'draining',
]);

/** A copy that may wait: it does not keep the whole message in memory. */
function detached(frame: Frame): { readonly bytes: number; readonly frame: Frame } {
  let bytes = STEP_BYTES;
  const copy: Frame = { ...frame };
  for (const [key, value] of Object.entries(frame)) {
    if (typeof value !== 'string') continue;
    bytes += value.length;
    Reflect.set(copy, key, detach(value));
  }
  return { bytes, frame: copy };
}

/** The approximate memory of a frame in addition to its texts. */
const STEP_BYTES = 256;

function admit(registration: Registration, frame: Frame): void {
  const { context, session, guard, act } = registration;
  const { names } = guard;
  switch (frame.type) {
    case 'registerfunction':
      return admitFunction(registration, frame);
    case 'registertrigger':
      return admitTrigger(registration, frame);
    case 'registertriggertype':
      return admitTriggerType(registration, frame);
    case 'unregisterfunction':
      act({ ...frame, id: names.functions.counting(frame.id) });
      return names.functions.drop(frame.id);
    case 'unregistertrigger':
      context.triggerClaims.takeBack(session, frame.id);
      act({ ...frame, id: names.triggers.counting(frame.id) });
      return names.dropTrigger(frame.id);
    case 'unregistertriggertype':
      context.typeClaims.takeBack(session, frame.id);
      act({ ...frame, id: names.triggerTypes.counting(frame.id) });
      return names.triggerTypes.drop(frame.id);
    default:
      act(frame);
  }
}

/** Answers a client that can receive an answer. Other refusals are counted and logged. */
function answerRefused({ context, session }: Registration, frame: Frame, refusal: Refusal): void {
  if (session.state === 'closed') return;
  if (frame.type === 'registerfunction') rejectFunction(context, session, frame.id, refusal.message, refusal.code);
  if (frame.type === 'registertrigger') refuseTrigger(context, session, frame, refusal);
  if (frame.type === 'registertriggertype') rejectType(context, session, frame.id, refusal);
}

function admitFunction(registration: Registration, frame: RegisterFunction<RawJson>): void {
  const { context, session, guard, access } = registration;
  if (!access.grant.mayRegisterFunctions) {
    return answerRefused(registration, frame, new Refusal('FORBIDDEN', 'This connection may not register functions'));
  }
  if (frame.invocation !== undefined) {
    // The engine would send its own secrets, named by environment variables, to an address that an untrusted client
    // chose.
    return answerRefused(
      registration,
      frame,
      new Refusal('FORBIDDEN', 'This connection may not register functions with a URL'),
    );
  }
  const { id, description, metadata } = frame;
  const input = {
    function_id: rawJson(id),
    description: description === undefined ? RAW_NULL : rawJson(description),
    metadata,
  };
  askHook(context, session, guard, { functionId: guard.rules.port.hooks.functions, input }, (changes) => {
    if (changes instanceof Refusal) answerRefused(registration, frame, changes);
    else registerAs(registration, frame, withChanges(frame, changes));
  });
}

/** The frame with the changes of the hook; fields of the wrong type are ignored. */
function withChanges(frame: RegisterFunction<RawJson>, changes: Changes): RegisterFunction<RawJson> {
  const changed: RegisterFunction<RawJson> = { ...frame, id: textOr(changes.function_id, frame.id) };
  if (typeof changes.description === 'string') changed.description = changes.description;
  if (typeof changes.metadata === 'object' && changes.metadata !== null) changed.metadata = rawJson(changes.metadata);
  return changed;
}

function registerAs(
  registration: Registration,
  said: RegisterFunction<RawJson>,
  meant: RegisterFunction<RawJson>,
): void {
  const { context, session, guard, access, act } = registration;
  const names = guard.names.functions;
  const id = prefixed(access, meant.id);
  const offence =
    idOffenceFor(context, access, id) ??
    (names.isTaken(said.id, id) ? 'The id stands for another function of this connection' : undefined);
  if (offence !== undefined) {
    rejectFunction(context, session, said.id, offence);
    return;
  }
  const before = names.counting(said.id);
  if (before !== id && session.functions.has(before)) act({ type: 'unregisterfunction', id: before });
  names.pair(said.id, id);
  act({ ...meant, id });
  if (session.functions.has(id)) guard.isEngaged = true;
  else names.drop(said.id);
}

/** Why no connection of a restricted port may have that id (X9). */
function idOffenceFor(context: RouterContext, access: Access, id: string): string | undefined {
  if (isReserved(id))
    return 'Ids of the engine, and ids below engine, state, stream, worker, svc and iii, are reserved';
  const entry = context.functions.get(id);
  const isTrusted =
    entry !== undefined &&
    (entry.kind === 'builtin' ||
      entry.remotes.some(({ trust }) => trust === 'trusted') ||
      entry.executors.some(({ access }) => access === undefined));
  // It may be away only for the moment of its restart.
  if (isTrusted || context.reservations.has('function', id))
    return 'The id belongs to the engine or to a trusted worker';
  if (entry?.kind !== 'worker' || coversId(access, id)) return undefined;
  const isGranted = coveringExecutors(entry).length > 0 || entry.remotes.some(({ trust }) => trust === 'granted');
  if (!isGranted) return undefined;
  return 'The id lies under the prefix of another connection';
}

function admitTrigger(registration: Registration, frame: RegisterTrigger<RawJson>): void {
  const { context, session, guard } = registration;
  const refusal = typeRefusal(registration, frame.trigger_type);
  if (refusal !== undefined) return answerRefused(registration, frame, refusal);
  const input = {
    trigger_id: rawJson(frame.id),
    trigger_type: rawJson(frame.trigger_type),
    function_id: rawJson(frame.function_id),
    config: frame.config,
    metadata: frame.metadata,
  };
  askHook(context, session, guard, { functionId: guard.rules.port.hooks.triggers, input }, (changes) => {
    if (changes instanceof Refusal) answerRefused(registration, frame, changes);
    else bindAs(registration, frame, changes);
  });
}

function bindAs(registration: Registration, said: RegisterTrigger<RawJson>, changes: Changes): void {
  const { context, session, guard, access, act } = registration;
  const functionId = textOr(changes.function_id, said.function_id);
  const known = guard.names.functions.counting(functionId);
  const meant: RegisterTrigger<RawJson> = {
    ...said,
    id: textOr(changes.trigger_id, said.id),
    trigger_type: textOr(changes.trigger_type, said.trigger_type),
    function_id: known === functionId ? prefixed(access, functionId) : known,
    ...(changes.config !== undefined && { config: rawJson(changes.config) }),
  };
  const refusal = typeRefusal(registration, meant.trigger_type) ?? bindingRefusal(registration, meant);
  if (refusal !== undefined) return answerRefused(registration, said, refusal);
  const { id } = meant;
  context.triggerClaims.takeBack(session, said.id);
  const offence = triggerOffence(context, session, meant);
  if (offence === undefined && context.triggerClaims.holderAgainst(session, id) !== undefined) {
    const retry = (): void => bindAs(registration, said, changes);
    return waitFor(registration, said, { claims: context.triggerClaims, id, what: 'trigger id', retry });
  }
  const before = guard.names.triggers.counting(said.id);
  if (before !== id && session.triggers.has(before)) act({ type: 'unregistertrigger', id: before });
  guard.names.dropTrigger(said.id);
  if (id !== said.id || meant.trigger_type !== said.trigger_type || meant.function_id !== said.function_id) {
    const { trigger_type, function_id } = said;
    guard.names.noteTrigger(id, { id: said.id, trigger_type, function_id });
  }
  act(meant);
  if (session.triggers.has(id)) guard.isEngaged = true;
  else guard.names.dropTrigger(said.id);
}

function typeRefusal({ access }: Registration, type: string): Refusal | undefined {
  if (access.mayBindTo(type)) return undefined;
  const name = type.slice(0, SHOWN_CHARS_MAX);
  return new Refusal('FORBIDDEN', `trigger type '${name}' not allowed (add to rbac.allow_trigger_types)`);
}

/**
 * Every function that may run because of the trigger must be within reach, and the trigger id must belong to the owner.
 */
function bindingRefusal({ context, session }: Registration, frame: RegisterTrigger<RawJson>): Refusal | undefined {
  const present = context.triggers.binding(frame.id);
  if (present !== undefined && present.owner?.access === undefined) {
    return new Refusal('FORBIDDEN', 'The trigger id belongs to the engine or to a trusted worker');
  }
  const config = parseRawJson(frame.config ?? RAW_NULL);
  for (const id of [frame.function_id, ...functionsNamedIn(config)]) {
    const refusal = targetRefusal(session, id);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

interface Held {
  readonly claims: IdClaims;
  readonly id: string;
  readonly what: string;
  readonly retry: () => void;
}

/**
 * Another restricted connection has the id. It may be the old connection of the same client, but nothing proves that.
 */
function waitFor(
  registration: Registration,
  said: RegisterTrigger<RawJson> | RegisterTriggerType<RawJson>,
  held: Held,
): void {
  const { context, session } = registration;
  const { claims, id, what, retry } = held;
  context.logger.info('A registration waits until the connection that has its id is gone', {
    worker: session.displayName,
    [what.replace(' ', '_')]: id,
  });
  const reason = `The ${what} belongs to another connection, which is still there after ${CLAIM_MS / 1000} s`;
  const refuse = (): void =>
    answerRefused(registration, said, new Refusal('FORBIDDEN', `${reason}; choose another id`));
  claims.wait({ session, id, ownId: said.id, retry, refuse });
}

function admitTriggerType(registration: Registration, frame: RegisterTriggerType<RawJson>): void {
  const { context, session, guard, access } = registration;
  if (!access.grant.mayRegisterTriggerTypes) {
    return answerRefused(
      registration,
      frame,
      new Refusal('FORBIDDEN', 'this connection may not register trigger types'),
    );
  }
  const input = { trigger_type_id: rawJson(frame.id), description: rawJson(frame.description) };
  askHook(context, session, guard, { functionId: guard.rules.port.hooks.triggerTypes, input }, (changes) => {
    if (changes instanceof Refusal) answerRefused(registration, frame, changes);
    else provideAs(registration, frame, changes);
  });
}

function provideAs(registration: Registration, said: RegisterTriggerType<RawJson>, changes: Changes): void {
  const { context, session, guard, act } = registration;
  const id = textOr(changes.trigger_type_id, said.id);
  const provider = context.triggers.type(id)?.provider;
  const isTaken = provider !== undefined && restrictedProvider(provider) === undefined;
  if (isTaken || isReservedType(id) || context.reservations.has('trigger type', id)) {
    return answerRefused(
      registration,
      said,
      new Refusal('FORBIDDEN', 'the type belongs to the engine or to a trusted worker'),
    );
  }
  context.typeClaims.takeBack(session, said.id);
  const offence = typeOffence(context, session, { ...said, id });
  if (offence === undefined && context.typeClaims.holderAgainst(session, id) !== undefined) {
    const retry = (): void => provideAs(registration, said, changes);
    return waitFor(registration, said, { claims: context.typeClaims, id, what: 'trigger type', retry });
  }
  const before = guard.names.triggerTypes.counting(said.id);
  if (before !== id && session.triggerTypes.has(before)) act({ type: 'unregistertriggertype', id: before });
  guard.names.triggerTypes.pair(said.id, id);
  act({ ...said, id, description: textOr(changes.description, said.description) });
  if (session.triggerTypes.has(id)) guard.isEngaged = true;
  else guard.names.triggerTypes.drop(said.id);
}

function prefixed({ grant }: Access, id: string): string {
  return grant.functionPrefix === undefined ? id : `${grant.functionPrefix}::${id}`;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

const SHOWN_CHARS_MAX = 256;
