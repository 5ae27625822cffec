// Which calls an engine under pressure refuses (L1): new calls whose caller can repeat them. Results of accepted work
// and the engine's own functions, such as its health, are served at every level (L3).

import { Refusal } from '../../core/calls/refusal.ts';
import { PRESSURE, type Pressure } from '../../core/limits/pressure.ts';
import { begins } from './chain.ts';
import type { CallRequest } from './open-call.ts';

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
