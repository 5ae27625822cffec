// Which calls start a chain, and which are part of a running one. An engine that drains or sheds load refuses the
// former and lets the latter finish.
//
// A depth in the baggage means that a chain runs. The engine believes it from a trusted connection. A restricted
// connection or a request from outside could always claim it: there the depth only counts towards the limit of a chain.

import type { CallRequest } from './open-call.ts';

export function begins({ from, depth, isFromOutside }: CallRequest): boolean {
  if (from === undefined) return depth === 0 || isFromOutside === true;
  if (from.access === undefined) return depth === 0 && from.inFlight === 0;
  return from.owedInFlight === 0;
}
