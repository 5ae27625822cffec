// What stands between the engine and each connection of one port, as its configuration says.

import { Access, type AccessPolicy, type Grant, type Registrations } from '../../core/access.ts';
import { readExposeEntry } from '../../core/expose-filter.ts';
import { MessageRate } from '../../core/message-rate.ts';
import { Guard, type RegistrationHooks } from '../../router/guard.ts';
import type { BrowserLimits } from '../module.ts';
import type { WorkerManagerConfig } from './config.ts';

const NO_HOOKS: RegistrationHooks = { functions: undefined, triggers: undefined, triggerTypes: undefined };

export class PortGuard {
  readonly #config: WorkerManagerConfig;
  readonly #limits: BrowserLimits;
  readonly #registrations: Registrations;
  readonly #policy: AccessPolicy | undefined;

  constructor(config: WorkerManagerConfig, limits: BrowserLimits, registrations: Registrations) {
    this.#config = config;
    this.#limits = limits;
    this.#registrations = registrations;
    this.#policy = policyOf(config);
  }

  /** How many messages a connection may send; `undefined`: as many as it likes. */
  rate(nowMs: number): MessageRate | undefined {
    return this.#policy && new MessageRate(this.#limits.messages, nowMs);
  }

  /** `undefined`: connections of this port are simply trusted. */
  forConnection(grant: Grant, nowMs: number): Guard | undefined {
    const { middleware_function_id: middlewareFunctionId, rbac } = this.#config;
    const { registrationMs, askMs } = this.#limits;
    const shared = { middlewareFunctionId, askMsMax: askMs };
    if (this.#policy === undefined || rbac === undefined) {
      if (middlewareFunctionId === undefined) return undefined;
      const idleUntilMs = Number.POSITIVE_INFINITY;
      return new Guard({ ...shared, access: undefined, rate: undefined, hooks: NO_HOOKS, idleUntilMs });
    }
    return new Guard({
      ...shared,
      access: new Access(this.#policy, grant, this.#registrations),
      rate: this.rate(nowMs),
      hooks: {
        functions: rbac.on_function_registration_function_id,
        triggers: rbac.on_trigger_registration_function_id,
        triggerTypes: rbac.on_trigger_type_registration_function_id,
      },
      idleUntilMs: nowMs + registrationMs,
    });
  }
}

function policyOf({ rbac }: WorkerManagerConfig): AccessPolicy | undefined {
  if (rbac === undefined) return undefined;
  const expose = rbac.expose_functions.map((entry) => {
    const read = readExposeEntry(entry);
    if (!read.ok) throw new Error(`The loader accepted an entry of expose_functions that is none: ${read.reason}`);
    return read.value;
  });
  return { expose, triggerTypes: new Set(rbac.allow_trigger_types) };
}
