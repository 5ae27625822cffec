// `engine::triggers::fire`: what the console's "Trigger now" and `svc triggers fire` call.

import { readPayload } from '../../core/read-payload.ts';
import { Refusal } from '../../core/refusal.ts';
import { validateFireTrigger } from '../../generated/engine-payloads.ts';
import { rawJson } from '../../protocol/byte-string.ts';
import { Payload } from '../../protocol/payload.ts';
import type { Binding, BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { hiddenRefusal, mayBeShown } from '../../router/reach.ts';
import { memberAsSent } from '../member-as-sent.ts';

export function fireTrigger(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::fire';
  return {
    id,
    description: 'Fires one trigger now: its function is called, after its condition, and nobody waits for it',
    handle(payload, call) {
      const { rights } = call;
      const { id: wanted, payload: given } = readPayload(id, validateFireTrigger, payload);
      const binding = router.trigger(wanted);
      // What it fires runs with its owner's rights, so a caller with fewer fires only what it may reach by itself.
      if (rights !== undefined && (binding === undefined || !mayBeShown(rights, binding))) {
        throw hiddenRefusal('Trigger', wanted);
      }
      if (binding === undefined) throw new Refusal('NOT_FOUND', `Trigger ${wanted} not found`);
      if (binding.state !== 'bound') {
        const why = binding.error ?? `nothing provides its type ${binding.type}`;
        throw new Refusal('INVALID_ARGUMENTS', `Trigger ${wanted} cannot fire: ${why}`);
      }
      const sent = given === undefined ? sampleOf(router, binding) : given;
      const written = given === undefined ? undefined : memberAsSent(call.sent, 'payload');
      router.fire([binding], Payload.ofText(written ?? rawJson(sent)), call);
      return { id: binding.id, trigger_type: binding.type, function_id: binding.functionId, payload: sent };
    },
  };
}

/** What the trigger would bring by itself at this moment, where its module knows; else nothing in particular. */
function sampleOf(router: RouterPort, binding: Binding): unknown {
  const provider = router.triggerType(binding.type)?.provider;
  return (provider?.kind === 'module' ? provider.module.sample?.(binding, router.nowMs) : undefined) ?? {};
}
