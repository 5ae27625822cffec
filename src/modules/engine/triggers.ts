// `engine::triggers::…` (types), `engine::registered-triggers::…` (bindings), durable triggers, and the engine's own
// trigger types, which report that functions or workers were added or removed.

import type { BuiltinAnswers } from '../../console/api/builtin-answers.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { namespaceOf } from '../../core/registry/function-table.ts';
import {
  validateFireTrigger,
  validateId,
  validateRegisterTrigger,
  validateTriggersJudged,
  validateTriggersList,
  validateTriggerTypesList,
  validateUnregisterTrigger,
} from '../../generated/module-payloads.ts';
import { idOffence, SMALL_PAYLOAD_LIMITS } from '../../protocol/frames/limits.ts';
import { parseRawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import {
  assertTrusted,
  type Binding,
  type BuiltinCall,
  type BuiltinDefinition,
  type ModuleTriggerType,
} from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { FUNCTIONS_AVAILABLE, WORKERS_AVAILABLE } from '../../router/registrations/announcements.ts';
import { registeredIdOf } from '../../router/remote/remote-owner.ts';
import { TRIGGERS_JUDGED } from '../../router/remote/report-verdict.ts';
import { hiddenRefusal, mayBeShown } from '../../router/restricted/reach.ts';
import { memberAsSent } from '../raw-payload.ts';
import type { EngineAnswers, TriggerTypeDetail } from './answers.ts';
import type { DurableTriggers } from './durable-triggers.ts';
import { type Later, whenKnown } from './functions-list.ts';

type TriggerType = NonNullable<ReturnType<RouterPort['triggerType']>>;

export function triggersList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::list';
  return {
    id,
    description: 'Lists the trigger types that can be bound',
    handle(payload, call): EngineAnswers[typeof id] {
      const filter = readPayload(id, validateTriggerTypesList, payload);
      const triggers = [...router.triggerTypes()]
        .filter((type) => isTypeShown(type, call))
        .filter((type) => filter.include_internal === true || !type.id.startsWith('engine::'))
        .filter((type) => filter.prefix == null || type.id.startsWith(filter.prefix))
        .filter((type) => filter.search == null || type.id.toLowerCase().includes(filter.search.toLowerCase()))
        .map((type) => router.triggerTypeRow(type))
        .filter((row) => filter.worker == null || row.worker_name === filter.worker)
        .sort(byId);
      return { triggers };
    },
  };
}

export function triggersInfo(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::info';
  return {
    id,
    description: 'Describes one trigger type',
    handle(payload, call): EngineAnswers[typeof id] {
      const wanted = readPayload(id, validateId, payload).id;
      const type = router.triggerType(wanted);
      if (type === undefined || !isTypeShown(type, call)) throw notFound('Trigger type', wanted, call);
      return typeDetail(router, type, call);
    },
  };
}

/** Called by clients up to 0.12. */
export function triggerTypesList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::trigger-types::list';
  return {
    id,
    description: 'Lists the trigger types in the form of older clients',
    handle(payload, call): EngineAnswers[typeof id] {
      const filter = readPayload(id, validateTriggerTypesList, payload);
      const types = [...router.triggerTypes()]
        .filter((type) => isTypeShown(type, call))
        .filter((type) => filter.include_internal === true || !type.id.startsWith('engine::'))
        .map((type) => ({
          id: type.id,
          description: type.spec.description,
          ...(type.spec.configFormat && { trigger_request_format: parseRawJson(type.spec.configFormat) }),
          ...(type.spec.payloadFormat && { call_request_format: parseRawJson(type.spec.payloadFormat) }),
        }));
      return { trigger_types: types.sort(byId) };
    },
  };
}

export function registeredTriggersList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::registered-triggers::list';
  return {
    id,
    description: 'Lists the triggers that are bound, with their state',
    handle(payload, call): Later<EngineAnswers[typeof id]> {
      const filter = readPayload(id, validateTriggersList, payload);
      const wanted = filter.search?.toLowerCase();
      const answer = (): EngineAnswers[typeof id] => {
        const rows = [...router.triggers()]
          .filter((binding) => isTriggerShown(binding, call))
          // `iii` forgets a trigger that was refused.
          .filter((binding) => !(router.isDropIn && binding.state === 'refused'))
          .filter((binding) => filter.trigger_type == null || binding.type === filter.trigger_type)
          .filter((binding) => filter.function_id == null || binding.functionId === filter.function_id)
          .filter((binding) => filter.include_internal === true || namespaceOf(binding.functionId) !== 'engine')
          .map((binding) => router.triggerRow(binding))
          .filter((row) => filter.worker == null || row.worker_name === filter.worker)
          .filter((row) => wanted === undefined || `${row.id} ${row.function_id}`.toLowerCase().includes(wanted));
        return { registered_triggers: rows.sort(byId) };
      };
      // A restricted caller must not make all engines list all triggers.
      const isAsking = !call.isRelayed && call.rights === undefined;
      const learned = isAsking
        ? router.others.learnFirings(filter.function_id ?? undefined)
        : router.others.flushRouters();
      return whenKnown([learned], answer);
    },
  };
}

export function registeredTriggersInfo(router: RouterPort): BuiltinDefinition {
  const id = 'engine::registered-triggers::info';
  return {
    id,
    description: 'Describes one trigger with its type and its function',
    handle(payload, call): Later<EngineAnswers[typeof id]> {
      const wanted = readPayload(id, validateId, payload).id;
      const binding = triggerNamed(router, wanted);
      if (binding === undefined || !isTriggerShown(binding, call)) throw notFound('Trigger', wanted, call);
      const { functionId } = binding;
      const isAsking = !call.isRelayed && call.rights === undefined;
      const described = call.isRelayed ? undefined : router.others.describe([functionId]);
      const learned = isAsking ? router.others.learnFirings(functionId) : router.others.flushRouters();
      return whenKnown([described, learned], () => {
        const type = router.triggerType(binding.type);
        const entry = router.functionEntry(binding.functionId);
        return {
          ...router.triggerRow(binding),
          trigger: type === undefined ? null : typeDetail(router, type, call),
          function: entry === undefined ? null : router.functionRow(entry),
        };
      });
    },
  };
}

export function registerTrigger(durable: DurableTriggers): BuiltinDefinition {
  const id = 'engine::register_trigger';
  return {
    id,
    description: 'Binds a trigger that outlives the connection of its caller',
    async handle(payload, { rights }): Promise<EngineAnswers[typeof id]> {
      // A durable trigger belongs to no connection: what it runs would be work of trusted origin.
      assertTrusted(id, { rights });
      const { trigger_type, type, function_id, config, metadata } = readPayload(id, validateRegisterTrigger, payload);
      const typeId = trigger_type ?? type;
      if (typeId == null) throw new Refusal('INVALID_ARGUMENTS', `${id} needs trigger_type`);
      for (const [kind, text] of [
        ['trigger type', typeId],
        ['function id', function_id],
      ] as const) {
        const offence = idOffence(text);
        if (offence !== undefined) throw new Refusal('BAD_REQUEST', `The ${kind} ${offence}`);
      }
      return { id: await durable.register({ type: typeId, functionId: function_id, config, metadata }) };
    },
  };
}

export function unregisterTrigger(durable: DurableTriggers): BuiltinDefinition {
  const id = 'engine::unregister_trigger';
  return {
    id,
    description: 'Removes a trigger that was bound with engine::register_trigger',
    handle(payload, { rights }): EngineAnswers[typeof id] | Promise<EngineAnswers[typeof id]> {
      assertTrusted(id, { rights });
      const removed = durable.unregister(readPayload(id, validateUnregisterTrigger, payload).id);
      return removed instanceof Promise ? removed.then((was) => ({ removed: was })) : { removed };
    },
  };
}

/** A caller with rights sees the types that it may bind, and those that it provides itself (X10). */
function isTypeShown({ id, provider }: TriggerType, { rights, callerWorkerId }: BuiltinCall): boolean {
  if (rights === undefined || rights.mayBindTo(id)) return true;
  return provider.kind === 'worker' && provider.executor.workerId === callerWorkerId;
}

/** By the id in lists, or by the one that its worker on another engine gave it, if no other trigger has that. */
function triggerNamed(router: RouterPort, id: string): Binding | undefined {
  const listed = router.trigger(id);
  if (listed !== undefined) return listed;
  const found = [...router.triggers()].filter((binding) => registeredIdOf(binding) === id);
  if (found.length <= 1) return found[0];
  const ids = found.map((binding) => binding.id).join(', ');
  throw new Refusal('INVALID_ARGUMENTS', `${found.length} engines have a trigger ${id}; give one of ${ids}`);
}

function isTriggerShown(binding: Binding, { rights, callerWorkerId }: BuiltinCall): boolean {
  // A durable trigger has no owner, and a call of a trigger or a job no caller.
  const isOwn = callerWorkerId !== undefined && binding.owner?.workerId === callerWorkerId;
  return isOwn || mayBeShown(rights, binding);
}

function notFound(kind: string, id: string, { rights }: BuiltinCall): Refusal {
  return rights === undefined ? new Refusal('NOT_FOUND', `${kind} ${id} not found`) : hiddenRefusal(kind, id);
}

function typeDetail(router: RouterPort, type: TriggerType, call: BuiltinCall): TriggerTypeDetail {
  return {
    ...router.triggerTypeRow(type),
    ...(type.spec.configFormat && { configuration_schema: parseRawJson(type.spec.configFormat) }),
    ...(type.spec.payloadFormat && { request_schema: parseRawJson(type.spec.payloadFormat) }),
    instance_count: [...router.triggers()].filter((one) => one.type === type.id && isTriggerShown(one, call)).length,
  };
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

/** Called by the engine where the provider of the type of the trigger is connected. */
export function triggersJudged(router: RouterPort): BuiltinDefinition {
  const id = TRIGGERS_JUDGED;
  return {
    id,
    description: 'Reports what the provider of its type says about a trigger, between engines of a cluster',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle(payload, call): EngineAnswers[typeof id] {
      assertTrusted(id, call);
      const { id: triggerId, error } = readPayload(id, validateTriggersJudged, payload);
      return { known: router.triggerJudged(triggerId, error === undefined ? undefined : rawJson(error)) };
    },
  };
}

/** Called by the console's "Trigger now" and by `svc triggers fire`. */
export function fireTrigger(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::fire';
  return {
    id,
    description:
      'Fires one trigger now: its function is called, after its condition, and the call does not wait for the result',
    handle(payload, call): BuiltinAnswers['engine::triggers::fire'] {
      const { rights } = call;
      const { id: wanted, payload: given } = readPayload(id, validateFireTrigger, payload);
      const binding = triggerNamed(router, wanted);
      // The firing runs with the rights of the trigger's owner, so a caller with fewer rights may fire only what it can
      // call itself.
      if (rights !== undefined && (binding === undefined || !mayBeShown(rights, binding))) {
        throw hiddenRefusal('Trigger', wanted);
      }
      if (binding === undefined) throw new Refusal('NOT_FOUND', `Trigger ${wanted} not found`);
      if (binding.state !== 'bound') {
        const why = binding.error ?? `its type ${binding.type} has no provider`;
        throw new Refusal('INVALID_ARGUMENTS', `Trigger ${wanted} cannot fire: ${why}`);
      }
      const sent = given === undefined ? sampleOf(router, binding) : given;
      const written = given === undefined ? undefined : memberAsSent(call.sent, 'payload');
      router.fire([binding], Payload.ofText(written ?? rawJson(sent)), call);
      return { id: binding.id, trigger_type: binding.type, function_id: binding.functionId, payload: sent };
    },
  };
}

/** The payload that the trigger would send now, if its module can build one; otherwise an empty one. */
function sampleOf(router: RouterPort, binding: Binding): unknown {
  const provider = router.triggerType(binding.type)?.provider;
  return (provider?.kind === 'module' ? provider.module.sample?.(binding, router.nowMs) : undefined) ?? {};
}

const EMPTY_CONFIG = rawJson({ type: 'object', properties: {}, additionalProperties: false });

export const engineTriggerTypes: readonly ModuleTriggerType[] = [
  {
    id: FUNCTIONS_AVAILABLE,
    spec: {
      description: 'Fires when the set of registered functions changed; the limit is four firings a second',
      configFormat: EMPTY_CONFIG,
      payloadFormat: rawJson({
        type: 'object',
        properties: { event: { const: 'functions_changed' }, functions: { type: 'array' } },
      }),
    },
    refuse: refuseSettings,
  },
  {
    id: WORKERS_AVAILABLE,
    spec: {
      description: 'Fires when a worker connected, disconnected or changed its description',
      configFormat: EMPTY_CONFIG,
      payloadFormat: rawJson({
        type: 'object',
        properties: {
          event: { enum: ['worker_connected', 'worker_disconnected', 'worker_metadata_updated'] },
          worker_id: { type: 'string' },
        },
      }),
    },
    refuse: refuseSettings,
  },
];

function refuseSettings(config: unknown): string | undefined {
  if (config === null) return undefined;
  if (typeof config !== 'object' || Array.isArray(config)) return 'The config must be an empty object';
  const [key] = Object.keys(config);
  return key === undefined ? undefined : `The config must be an empty object, found the key '${key.slice(0, 64)}'`;
}
