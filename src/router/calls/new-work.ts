// Which calls start a chain, and which are part of a running one. An engine that drains or sheds load refuses the
// former and lets the latter finish.
//
// A depth in the baggage means that a chain runs. The engine believes it from a trusted connection. A restricted
// connection or a request from outside could always claim it: there the depth only counts towards the limit of a chain.
//
// Under pressure the engine refuses new calls whose caller can repeat them (L1). Results of accepted work and the
// engine's own functions, such as its health, are served at every level (L3).

import { Refusal, refusals } from '../../core/calls/refusal.ts';
import { PRESSURE, type Pressure } from '../../core/limits/pressure.ts';
import type { CallRequest, RouterContext } from '../context.ts';

export function begins({ from, depth, isFromOutside }: CallRequest): boolean {
  if (from === undefined) return depth === 0 || isFromOutside === true;
  if (from.access === undefined) return depth === 0 && from.inFlight === 0;
  return from.owedInFlight === 0;
}

const OWN = 'engine::';
/** Built once: under pressure a refusal has to be cheap (L4). */
const PRESSED = new Refusal('OVERLOADED', 'The engine is under too much load; wait and repeat');

export function shedRefusal(pressure: Pressure, request: CallRequest): Refusal | undefined {
  if (pressure.level < PRESSURE.shed || request.from === undefined || request.functionId.startsWith(OWN))
    return undefined;
  const isDropped = request.caller === undefined;
  const isOfBrowser = request.rights !== undefined && (request.depth === 0 || begins(request));
  return (isDropped || isOfBrowser) && !pressure.admits() ? PRESSED : undefined;
}

/**
 * While draining, running chains may still make the calls they need; new calls are refused. The engine's own functions,
 * such as its health, answer until the end.
 */
export function drainRefusal(
  context: Pick<RouterContext, 'isStopped' | 'isDraining' | 'isMoving'>,
  request: CallRequest,
): Refusal | undefined {
  if (context.isStopped) return refusals.shuttingDown();
  if (!context.isDraining || context.isMoving) return undefined;
  return request.caller === undefined || begins(request) ? refusals.shuttingDown() : undefined;
}
