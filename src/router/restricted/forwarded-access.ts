// What restricted connections of another router may reach, where that router passes on their calls of functions of the
// engine. Connections with equal rights share an object, which keeps its verdicts for the next call.

import type { Access } from '../../core/access/access.ts';
import type { ForwardedRights } from '../../core/access/kept-rights.ts';
import type { RouterContext } from '../context.ts';
import { registrationsOf } from './reach.ts';

export class ForwardedAccess {
  readonly #byRights = new Map<string, Access>();

  of({ portPolicies, functions }: RouterContext, rights: ForwardedRights): Access {
    const text = JSON.stringify(rights);
    const known = this.#byRights.get(text);
    if (known !== undefined) return known;
    const { prefix: functionPrefix, triggerTypes, ...kept } = rights;
    const more = { functionPrefix, triggerTypes: triggerTypes && new Set(triggerTypes) };
    const access = portPolicies.restore(kept, registrationsOf(functions), more);
    // Connections come and go for ever.
    if (this.#byRights.size >= REMEMBERED_MAX) this.#byRights.clear();
    this.#byRights.set(text, access);
    return access;
  }
}

const REMEMBERED_MAX = 1_024;
