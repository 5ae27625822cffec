// Which calls an engine under pressure refuses (L1): what would begin, from where it can be asked again. Results of
// work that was accepted, and the engine's own functions, its health above all, are served at every level (L3).

import { PRESSURE, type Pressure } from '../core/pressure.ts';
import { Refusal } from '../core/refusal.ts';
import type { CallRequest } from './open-call.ts';

const OWN = 'engine::';
/** Made once: under pressure a refusal has to be cheap (L4). */
const PRESSED = new Refusal('OVERLOADED', 'The engine is under too much load; wait and repeat');

export function shedRefusal(pressure: Pressure, request: CallRequest): Refusal | undefined {
  if (pressure.level < PRESSURE.shed || request.from === undefined || request.functionId.startsWith(OWN))
    return undefined;
  const isDropped = request.caller === undefined;
  const isOfBrowser = request.rights !== undefined && request.depth === 0;
  return (isDropped || isOfBrowser) && !pressure.admits() ? PRESSED : undefined;
}
