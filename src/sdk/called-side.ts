// The side of a worker that is called: its handlers, and the providers of its trigger types. A page that only calls
// does not load it.

import { IncomingCalls, type IncomingCallsParts } from './incoming-calls.ts';
import type { Registrations } from './registrations.ts';
import { TriggerTypes } from './trigger-types.ts';

export class CalledSide {
  readonly calls: IncomingCalls;
  readonly triggerTypes: TriggerTypes;

  constructor(parts: IncomingCallsParts, registrations: Registrations) {
    this.calls = new IncomingCalls(parts);
    this.triggerTypes = new TriggerTypes(registrations, parts.settings);
  }
}
