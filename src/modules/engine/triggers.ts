// `engine::triggers::…` (types), `engine::registered-triggers::…` (bindings), and durable triggers.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { namespaceOf } from '../../core/registry/function-table.ts';
import {
  validateId,
  validateRegisterTrigger,
  validateTriggersList,
  validateTriggerTypesList,
  validateUnregisterTrigger,
} from '../../generated/module-payloads.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import { assertTrusted, type Binding, type BuiltinCall, type BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { hiddenRefusal, mayBeShown } from '../../router/restricted/reach.ts';
import type { DurableTriggers } from './durable-triggers.ts';

type TriggerType = NonNullable<ReturnType<RouterPort['triggerType']>>;

export function triggersList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::list';
  return {
    id,
    description: 'Lists the trigger types that can be bound',
    handle(payload, call) {
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
    handle(payload, call) {
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
    handle(payload, call) {
      const filter = readPayload(id, validateTriggerTypesList, payload);
      const types = [...router.triggerTypes()]
        .filter((type) => isTypeShown(type, call))
        .filter((type) => filter.include_internal === true || !type.id.startsWith('engine::'))
        .map((type) => ({
          id: type.id,
          description: type.facts.description,
          ...(type.facts.configFormat && { trigger_request_format: parseRawJson(type.facts.configFormat) }),
          ...(type.facts.payloadFormat && { call_request_format: parseRawJson(type.facts.payloadFormat) }),
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
    handle(payload, call) {
      const filter = readPayload(id, validateTriggersList, payload);
      const wanted = filter.search?.toLowerCase();
      const rows = [...router.triggers()]
        .filter((binding) => isTriggerShown(binding, call))
        .filter((binding) => filter.trigger_type == null || binding.type === filter.trigger_type)
        .filter((binding) => filter.function_id == null || binding.functionId === filter.function_id)
        .filter((binding) => filter.include_internal === true || namespaceOf(binding.functionId) !== 'engine')
        .map((binding) => router.triggerRow(binding))
        .filter((row) => filter.worker == null || row.worker_name === filter.worker)
        .filter((row) => wanted === undefined || `${row.id} ${row.function_id}`.toLowerCase().includes(wanted));
      return { registered_triggers: rows.sort(byId) };
    },
  };
}

export function registeredTriggersInfo(router: RouterPort): BuiltinDefinition {
  const id = 'engine::registered-triggers::info';
  return {
    id,
    description: 'Describes one trigger with its type and its function',
    handle(payload, call) {
      const wanted = readPayload(id, validateId, payload).id;
      const binding = router.trigger(wanted);
      if (binding === undefined || !isTriggerShown(binding, call)) throw notFound('Trigger', wanted, call);
      const type = router.triggerType(binding.type);
      const entry = router.functionEntry(binding.functionId);
      return {
        ...router.triggerRow(binding),
        trigger: type === undefined ? null : typeDetail(router, type, call),
        function: entry === undefined ? null : router.functionRow(entry),
      };
    },
  };
}

export function registerTrigger(durable: DurableTriggers): BuiltinDefinition {
  const id = 'engine::register_trigger';
  return {
    id,
    description: 'Binds a trigger that outlives the connection of its caller',
    async handle(payload, { rights }) {
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
    handle(payload, { rights }) {
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

function isTriggerShown(binding: Binding, { rights, callerWorkerId }: BuiltinCall): boolean {
  return mayBeShown(rights, binding) || binding.owner?.workerId === callerWorkerId;
}

function notFound(kind: string, id: string, { rights }: BuiltinCall): Refusal {
  return rights === undefined ? new Refusal('NOT_FOUND', `${kind} ${id} not found`) : hiddenRefusal(kind, id);
}

function typeDetail(router: RouterPort, type: TriggerType, call: BuiltinCall) {
  return {
    ...router.triggerTypeRow(type),
    ...(type.facts.configFormat && { configuration_schema: parseRawJson(type.facts.configFormat) }),
    ...(type.facts.payloadFormat && { request_schema: parseRawJson(type.facts.payloadFormat) }),
    instance_count: [...router.triggers()].filter((one) => one.type === type.id && isTriggerShown(one, call)).length,
  };
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
