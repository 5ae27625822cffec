// `engine::triggers::fire`: called by the console's "Trigger now" and by `svc triggers fire`.

import type { BuiltinAnswers } from '../../console-api/builtin-answers.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { validateFireTrigger } from '../../generated/module-payloads.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding, BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { hiddenRefusal, mayBeShown } from '../../router/restricted/reach.ts';
import { memberAsSent } from '../member-as-sent.ts';

export function fireTrigger(router: RouterPort): BuiltinDefinition {
  const id = 'engine::triggers::fire';
  return {
    id,
    description:
      'Fires one trigger now: its function is called, after its condition, and the call does not wait for the result',
    handle(payload, call): BuiltinAnswers['engine::triggers::fire'] {
      const { rights } = call;
      const { id: wanted, payload: given } = readPayload(id, validateFireTrigger, payload);
      const binding = router.trigger(wanted);
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
