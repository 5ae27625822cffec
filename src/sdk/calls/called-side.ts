// The part of a worker that receives calls: its handlers, and the providers of its trigger types. A page that only
// makes calls does not load it.

import { TriggerTypes } from '../triggers/trigger-types.ts';
import type { Registrations } from '../worker/registrations.ts';
import { IncomingCalls, type IncomingCallsParts } from './incoming-calls.ts';

export class CalledSide {
  readonly calls: IncomingCalls;
  readonly triggerTypes: TriggerTypes;

  constructor(parts: IncomingCallsParts, registrations: Registrations) {
    this.calls = new IncomingCalls(parts);
    this.triggerTypes = new TriggerTypes(registrations, parts.settings);
  }
}
