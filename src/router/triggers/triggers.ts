// Trigger types and bindings: what workers register, and what is sent to the providers.
//
// Neighbours: `core/registry/trigger-table.ts` decides, this file sends. Rules: section 4 of the wire.

import { Refusal } from '../../core/calls/refusal.ts';
import { hasPrecedence } from '../../core/registry/precedence.ts';
import {
  type NewBinding,
  type RestrictedProvider,
  type TriggerType,
  takesDurable,
} from '../../core/registry/trigger-table.ts';
import type {
  RegisterTrigger,
  RegisterTriggerType,
  TriggerRegistrationResult,
  UnregisterTrigger,
  UnregisterTriggerType,
} from '../../protocol/frames/frames.ts';
import { idOffence, REGISTRATION_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { detach, parseRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { Binding, ModuleTriggerType, Removal, TriggerOwner } from '../builtin.ts';
import { errorText } from '../calls/call.ts';
import type { RouterContext } from '../context.ts';
import { detachRaw, reserve, sizeOf } from '../registrations/functions.ts';
import { RemoteOwner } from '../remote/remote-owner.ts';
import { reportVerdict } from '../remote/report-verdict.ts';
import { noteWorker } from '../session/observe.ts';
import type { Session } from '../session/session.ts';
import { conditionOf } from './condition.ts';

export function handleRegisterTriggerType(
  context: RouterContext,
  session: Session,
  frame: RegisterTriggerType<RawJson>,
): void {
  const id = detach(frame.id);
  const refusal = registerType(context, session, id, frame);
  if (refusal !== undefined) {
    rejectType(context, session, id, new Refusal('trigger_registration_failed', refusal));
    return;
  }
  session.triggerTypes.add(id);
  noteWorker(context, session);
  // Every binding of the type is sent to the newest provider, including those it may know already.
  for (const binding of context.triggers.bindingsOf(id)) deliver(context, binding);
}

/** The wire of `iii` has no frame for this: its clients have only the log. */
export function rejectType(context: RouterContext, session: Session, id: string, { code, message }: Refusal): void {
  context.counters.count('registrations.rejected');
  context.logger.warn('Trigger type refused', { worker: session.displayName, trigger_type: id, reason: message });
  if (!session.isOwnSdk) return;
  session.send({
    type: 'registrationrejected',
    code,
    namespace: 'default',
    owner_worker_id: '',
    function_id: '',
    trigger_type: id,
    message,
  });
}

/** Why the type is refused; `undefined`: this session provides it now. */
function registerType(
  context: RouterContext,
  session: Session,
  id: string,
  frame: RegisterTriggerType<RawJson>,
): string | undefined {
  const offence = typeOffence(context, session, frame);
  if (offence !== undefined) return offence;
  const isOurs = context.triggers.registerType(id, session, {
    description: detach(frame.description),
    configFormat: detachRaw(frame.trigger_request_format),
    payloadFormat: detachRaw(frame.call_request_format),
  });
  if (isOurs && session.access === undefined) reserve(context, 'trigger type', id);
  return isOurs ? undefined : 'the type belongs to a module of the engine';
}

/** Why no connection may have such a type, or this one may have no further type. */
export function typeOffence(
  context: RouterContext,
  session: Session,
  frame: RegisterTriggerType<RawJson>,
): string | undefined {
  const { id } = frame;
  const offence = idOffence(id);
  if (offence !== undefined) return `the id ${offence}`;
  const { triggersPerWorker } = session.limits;
  const count = session.triggerTypes.size + context.typeClaims.countOf(session);
  if (count >= triggersPerWorker && !session.triggerTypes.has(id)) {
    return `this connection is at its limit of ${triggersPerWorker} trigger types`;
  }
  const bytes = sizeOf(frame.description, frame.trigger_request_format, frame.call_request_format);
  if (bytes > REGISTRATION_BYTES_MAX) return `it takes ${bytes} bytes, over the limit of ${REGISTRATION_BYTES_MAX}`;
  return undefined;
}

/**
 * The worker of this engine gives up the type to one of another engine, as on one engine: the newest provider has a
 * type, unless it must not take it from the one before.
 */
export function withdrawLostType(context: RouterContext, id: string): void {
  const { triggers } = context;
  const type = triggers.type(id);
  if (type?.provider.kind !== 'worker') return;
  const { executor } = type.provider;
  const own = { order: type.spec.order, restricted: restrictedProvider(type.provider) };
  const winner = triggers.remoteTypes(id).find((other) => hasPrecedence(other, own));
  if (winner === undefined) return;
  // A worker that moves provides it on its new connection: a removal on the old one would end what it has there.
  const isMoved = context.isMoving || context.isDraining;
  if (!isMoved) for (const binding of triggers.bindingsOf(id)) sendRemoval(context, binding, 'left');
  executor.triggerTypes.delete(id);
  triggers.unregisterType(id, executor);
  if (isMoved) return;
  const text = `A worker of engine ${winner.engine.shownId} provides this trigger type from now on`;
  rejectType(context, executor, id, new Refusal('trigger_registration_failed', text));
}

export function handleUnregisterTriggerType(
  context: RouterContext,
  session: Session,
  frame: UnregisterTriggerType,
): void {
  session.triggerTypes.delete(frame.id);
  context.triggers.unregisterType(frame.id, session);
  context.typeClaims.released([frame.id]);
}

export function handleRegisterTrigger(context: RouterContext, session: Session, frame: RegisterTrigger<RawJson>): void {
  const offence = triggerOffence(context, session, frame);
  if (offence !== undefined) {
    refuseTrigger(context, session, frame, new Refusal('trigger_registration_failed', offence));
    return;
  }
  const { binding, refusal } = bind(context, {
    id: detach(frame.id),
    type: detach(frame.trigger_type),
    functionId: detach(frame.function_id),
    config: detachRaw(frame.config ?? RAW_NULL),
    metadata: detachRaw(frame.metadata),
    owner: session,
  });
  session.triggers.add(binding.id);
  noteWorker(context, session);
  if (refusal !== undefined) refuseTrigger(context, session, frame, refusal);
}

/** A module was added: triggers of its types that waited for it are bound now. */
export function addModuleType(context: RouterContext, type: ModuleTriggerType): void {
  context.triggers.addModuleType(type.id, type.spec, type);
  for (const binding of context.triggers.bindingsOf(type.id)) deliver(context, binding);
}

/** A module leaves: triggers of its types stay listed, and wait. */
export function removeModuleType(context: RouterContext, type: ModuleTriggerType): void {
  for (const binding of context.triggers.bindingsOf(type.id)) sendRemoval(context, binding, 'left');
  context.triggers.removeModuleType(type.id);
}

/** Stores a binding and sends it to its provider, if there is one. */
export function bind(
  context: RouterContext,
  request: NewBinding<TriggerOwner>,
): { binding: Binding; refusal: Refusal | undefined } {
  const { added, replaced } = context.triggers.add(request);
  if (replaced !== undefined && replaced.owner !== request.owner) {
    replaced.owner?.triggers.delete(replaced.id);
    replaced.owner?.guard?.names.triggerTaken(replaced.id);
  }
  const provider = providerOf(context, added);
  // A worker of the same type gets the new one under the old id; any other has to be sent the removal.
  if (replaced !== undefined && (replaced.type !== added.type || provider?.kind === 'module')) {
    sendRemoval(context, replaced, 'taken_back');
  }
  if (provider === undefined) {
    context.logger.info(`Trigger waits: no worker or module provides its type`, {
      trigger_type: added.type,
      trigger_id: added.id,
    });
  }
  return { binding: added, refusal: deliver(context, added) };
}

/** The provider's verdict on a binding it was sent. Only the current provider of the type is believed. */
export function handleTriggerResult(
  context: RouterContext,
  session: Session,
  frame: TriggerRegistrationResult<RawJson>,
): void {
  const binding = context.triggers.binding(frame.id);
  const provider = binding && providerOf(context, binding);
  if (binding === undefined || provider?.kind !== 'worker' || provider.executor !== session) {
    context.counters.count('triggers.foreign_results');
    return;
  }
  context.verdicts.get(binding.id)?.(frame.error);
  const wasRefused = binding.state === 'refused';
  adoptVerdict(context, binding, frame.error);
  const { owner } = binding;
  if (!(owner instanceof RemoteOwner)) return;
  if (owner.engine.isRouter) {
    if (frame.error === undefined) owner.send(resultOf(binding));
  } else if (frame.error !== undefined || wasRefused) reportVerdict(context, binding, owner, frame.error);
}

/** The same for a type whose provider is at another engine. Returns whether the trigger is known here. */
export function judgedElsewhere(context: RouterContext, triggerId: string, error: RawJson | undefined): boolean {
  const binding = context.triggers.binding(triggerId);
  if (binding === undefined || providerOf(context, binding)?.kind !== 'engine') return false;
  adoptVerdict(context, binding, error);
  return true;
}

/** What the provider of its type says about the binding. */
export function adoptVerdict({ home }: RouterContext, binding: Binding, error: RawJson | undefined): void {
  noteVerdict(binding, error);
  const { owner } = binding;
  if (error !== undefined) owner?.send(resultOf(binding, error));
  // The first router lists the triggers of all.
  if (!(owner instanceof RemoteOwner && owner.engine.isRouter)) home?.sendVerdict(binding.id, error);
}

export function noteVerdict(binding: Binding, error: RawJson | undefined): void {
  binding.state = error === undefined ? 'bound' : 'refused';
  binding.error = error === undefined ? undefined : errorText(error);
}

function resultOf({ id, type, functionId }: Binding, error?: RawJson): TriggerRegistrationResult<RawJson> {
  const result = { type: 'triggerregistrationresult', id, trigger_type: type, function_id: functionId } as const;
  return error === undefined ? result : { ...result, error };
}

/** What the owner of a binding gets that was refused at once. */
export function refusedTrigger(binding: Binding, refusal: Refusal): TriggerRegistrationResult<RawJson> {
  return resultOf(binding, rawJson(refusal.toBody()));
}

export function handleUnregisterTrigger(
  context: RouterContext,
  session: Session,
  frame: UnregisterTrigger<RawJson>,
): void {
  const binding = context.triggers.binding(frame.id);
  if (binding === undefined) return;
  // Its owner or, for a trigger without one, any trusted connection.
  const isAnyones = binding.owner === undefined && session.access === undefined;
  if (!isAnyones && binding.owner !== session) return;
  unbind(context, binding, session.isLeaving ? 'left' : 'taken_back');
}

export function unbind(context: RouterContext, binding: Binding, removal: Removal = 'taken_back'): void {
  context.triggers.remove(binding, removal === 'taken_back');
  binding.owner?.triggers.delete(binding.id);
  sendRemoval(context, binding, removal);
  context.triggerClaims.released([binding.id]);
}

export function sendRemoval(context: RouterContext, binding: Binding, removal: Removal): void {
  const provider = providerOf(context, binding);
  if (provider === undefined) return;
  if (provider.kind === 'module') {
    if (binding.state === 'bound') provider.module.unbound?.(binding, removal);
    return;
  }
  // The other engine sees for itself what is bound.
  if (provider.kind === 'engine') return;
  provider.executor.send({
    type: 'unregistertrigger',
    id: binding.id,
    trigger_type: binding.type,
    function_id: binding.functionId,
    config: binding.config,
    ...(binding.metadata === undefined ? undefined : { metadata: binding.metadata }),
  });
}

/** The restricted connection that provides a type; `undefined`: another one, or a module, does. */
export function restrictedProvider(
  provider: TriggerType<Session, ModuleTriggerType>['provider'],
): RestrictedProvider | undefined {
  if (provider.kind === 'engine') return provider.restricted;
  if (provider.kind === 'module' || provider.executor.access === undefined) return undefined;
  return { prefix: provider.executor.access.grant.functionPrefix };
}

/** Who is sent the binding. */
export function providerOf({ triggers }: RouterContext, { type, owner }: Binding) {
  const provider = triggers.type(type)?.provider;
  const isDurable = owner === undefined || (owner instanceof RemoteOwner && owner.isDurable);
  if (!isDurable || provider === undefined) return provider;
  return takesDurable(type, restrictedProvider(provider)) ? provider : undefined;
}

/** The binding has got another order among all of the cluster. */
export function reordered(context: RouterContext, binding: Binding): void {
  const provider = providerOf(context, binding);
  if (provider?.kind === 'module' && binding.state === 'bound') provider.module.reordered?.(binding);
}

/** Sends the binding to the provider of its type: a module decides at once, a worker answers later. */
function deliver(context: RouterContext, binding: Binding): Refusal | undefined {
  const provider = providerOf(context, binding);
  binding.error = undefined;
  if (provider === undefined) {
    binding.state = 'parked';
    return undefined;
  }
  if (provider.kind === 'module') return judge(context, provider.module, binding);
  binding.state = 'bound';
  if (provider.kind === 'engine') return undefined;
  provider.executor.send({
    type: 'registertrigger',
    id: binding.id,
    trigger_type: binding.type,
    function_id: binding.functionId,
    config: binding.config,
    ...(binding.metadata === undefined ? undefined : { metadata: binding.metadata }),
  });
  return undefined;
}

function judge({ foreignKeys }: RouterContext, type: ModuleTriggerType, binding: Binding): Refusal | undefined {
  binding.settings = foreignKeys?.without(type, binding.config) ?? binding.config;
  const config = parseRawJson(binding.settings);
  const condition = conditionOf(config);
  const reason = type.refuse(config, binding) ?? condition.offence;
  binding.state = reason === undefined ? 'bound' : 'refused';
  binding.error = reason;
  binding.conditionFunctionId = condition.functionId;
  if (reason !== undefined) return new Refusal('trigger_registration_failed', reason);
  type.bound?.(binding, config);
  return undefined;
}

/** Why no connection may have such a trigger, or this one may have no further trigger. */
export function triggerOffence(
  context: RouterContext,
  session: Session,
  frame: RegisterTrigger<RawJson>,
): string | undefined {
  for (const [kind, id] of [
    ['trigger id', frame.id],
    ['trigger type', frame.trigger_type],
    ['function id', frame.function_id],
  ] as const) {
    const offence = idOffence(id);
    if (offence !== undefined) return `The ${kind} ${offence}`;
  }
  const strange = [frame.namespace, frame.trigger_namespace].find((name) => name !== undefined && name !== 'default');
  if (strange !== undefined) return `There is no namespace '${strange.slice(0, 64)}'; this version has 'default' only`;
  const bytes = sizeOf(frame.config, frame.metadata);
  if (bytes > REGISTRATION_BYTES_MAX) {
    return `config and metadata take ${bytes} bytes, over the limit of ${REGISTRATION_BYTES_MAX}`;
  }
  const count = session.triggers.size + context.triggerClaims.countOf(session);
  if (count >= session.limits.triggersPerWorker && !session.triggers.has(frame.id)) {
    return `This connection is at its limit of ${session.limits.triggersPerWorker} triggers`;
  }
  return undefined;
}

export function refuseTrigger(
  context: RouterContext,
  session: Session,
  frame: RegisterTrigger<RawJson>,
  refusal: Refusal,
): void {
  context.counters.count('registrations.rejected');
  context.logger.warn('Trigger refused', {
    worker: session.displayName,
    trigger_type: frame.trigger_type,
    function_id: frame.function_id,
    reason: refusal.message,
  });
  session.send({
    type: 'triggerregistrationresult',
    id: frame.id,
    trigger_type: frame.trigger_type,
    function_id: frame.function_id,
    error: rawJson(refusal.toBody()),
  });
}
