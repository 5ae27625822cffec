// `engine::triggers::…` (types), `engine::registered-triggers::…` (bindings), and durable triggers.

import { namespaceOf } from '../../core/function-table.ts';
import { Refusal } from '../../core/refusal.ts';
import {
  validateId,
  validateRegisterTrigger,
  validateTriggersList,
  validateTriggerTypesList,
  validateUnregisterTrigger,
} from '../../generated/engine-payloads.ts';
import { parseRawJson } from '../../protocol/byte-string.ts';
import { idOffence } from '../../protocol/ids.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { readPayload } from '../payload.ts';

type TriggerType = NonNullable<ReturnType<RouterPort['triggerType']>>;

export function triggersList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::list';
  return {
    id,
    description: 'Lists the trigger types that can be bound',
    handle(payload) {
      const filter = readPayload(id, validateTriggerTypesList, payload);
      const triggers = [...router.triggerTypes()]
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
    handle(payload) {
      const wanted = readPayload(id, validateId, payload).id;
      const type = router.triggerType(wanted);
      if (type === undefined) throw new Refusal('NOT_FOUND', `Trigger type ${wanted} not found`);
      return typeDetail(router, type);
    },
  };
}

/** What clients up to 0.12 ask for. */
export function triggerTypesList(router: RouterPort): BuiltinDefinition {
  const id = 'engine::trigger-types::list';
  return {
    id,
    description: 'Lists the trigger types in the form of older clients',
    handle(payload) {
      const filter = readPayload(id, validateTriggerTypesList, payload);
      const types = [...router.triggerTypes()]
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
    handle(payload) {
      const filter = readPayload(id, validateTriggersList, payload);
      const wanted = filter.search?.toLowerCase();
      const rows = [...router.triggers()]
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
    handle(payload) {
      const wanted = readPayload(id, validateId, payload).id;
      const binding = router.trigger(wanted);
      if (binding === undefined) throw new Refusal('NOT_FOUND', `Trigger ${wanted} not found`);
      const type = router.triggerType(binding.type);
      const entry = router.functionEntry(binding.functionId);
      return {
        ...router.triggerRow(binding),
        trigger: type === undefined ? null : typeDetail(router, type),
        function: entry === undefined ? null : router.functionRow(entry),
      };
    },
  };
}

export function registerTrigger(router: RouterPort): BuiltinDefinition {
  const id = 'engine::register_trigger';
  return {
    id,
    description: 'Binds a trigger that outlives the connection that asked for it',
    async handle(payload) {
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
      return { id: await router.bindDurable({ type: typeId, functionId: function_id, config, metadata }) };
    },
  };
}

export function unregisterTrigger(router: RouterPort): BuiltinDefinition {
  const id = 'engine::unregister_trigger';
  return {
    id,
    description: 'Takes away a trigger that was bound with engine::register_trigger',
    handle: (payload) => ({ removed: router.unbindDurable(readPayload(id, validateUnregisterTrigger, payload).id) }),
  };
}

function typeDetail(router: RouterPort, type: TriggerType) {
  return {
    ...router.triggerTypeRow(type),
    ...(type.facts.configFormat && { configuration_schema: parseRawJson(type.facts.configFormat) }),
    ...(type.facts.payloadFormat && { request_schema: parseRawJson(type.facts.payloadFormat) }),
    instance_count: [...router.triggers()].filter((binding) => binding.type === type.id).length,
  };
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
