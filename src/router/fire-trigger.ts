// An event happened: every function bound to it is called.
//
// Calls go out as fire-and-forget calls of the engine; a firing that never reached its handler marks the binding.

import { distinctBindings, type TriggerBinding } from '../core/trigger-table.ts';
import type { RawJson } from '../protocol/byte-string.ts';
import { CALL_TIMEOUT_MS_DEFAULT } from '../protocol/limits.ts';
import { Payload } from '../protocol/payload.ts';
import type { RouterContext } from './context.ts';
import { errorLine } from './error-text.ts';
import { invoke } from './invoke.ts';
import type { Session } from './session.ts';

/** `depth`: how deep in a chain of calls the event stands, so that a loop through a trigger ends too (I8). */
export function fireTrigger(context: RouterContext, type: string, payload: RawJson, depth: number): void {
  for (const binding of distinctBindings(context.triggers.bindingsOf(type))) fire(context, binding, payload, depth);
}

function fire(context: RouterContext, binding: TriggerBinding<Session>, payload: RawJson, depth: number): void {
  binding.lastFiredAtMs = context.clock.nowMs();
  binding.error = undefined;
  invoke(context, {
    functionId: binding.functionId,
    data: Payload.ofText(payload),
    metadata: binding.metadata && Payload.ofText(binding.metadata),
    traceparent: undefined,
    baggage: undefined,
    depth,
    timeoutMs: CALL_TIMEOUT_MS_DEFAULT,
    trigger: { type: binding.type, id: binding.id },
    from: undefined,
    ref: '',
    caller: {
      settle(outcome) {
        const error = outcome.error?.asText();
        if (error === undefined) return;
        binding.error = errorLine(error);
        context.counters.count('triggers.failed');
        context.logger.warn('A trigger failed', {
          trigger_type: binding.type,
          function_id: binding.functionId,
          error: binding.error,
        });
      },
    },
  });
}
