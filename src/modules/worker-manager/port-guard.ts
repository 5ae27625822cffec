// What stands between the engine and each connection of one port, as its configuration says.

import { Access, type AccessPolicy, type Grant, type PolicyInForce } from '../../core/access.ts';
import { readExposeEntry } from '../../core/expose-filter.ts';
import { MessageRate } from '../../core/message-rate.ts';
import { Guard, type PortFunctions } from '../../router/guard.ts';
import type { RouterPort } from '../../router/port.ts';
import type { BrowserLimits } from '../module.ts';
import type { WorkerManagerConfig } from './config.ts';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export class PortGuard {
  readonly #limits: BrowserLimits;
  readonly #router: RouterPort;
  /** `undefined`: the port trusts everybody. Connections look here and below: a change holds for all of them. */
  readonly #inForce: Writable<PolicyInForce> | undefined;
  readonly #functions: Writable<PortFunctions>;
  /** Others have to know the policy too: what is done on behalf of those who left goes by it. */
  readonly #withdraw: (() => void) | undefined;

  constructor(config: WorkerManagerConfig, limits: BrowserLimits, router: RouterPort) {
    this.#limits = limits;
    this.#router = router;
    const policy = policyOf(config);
    this.#inForce = policy && { port: `${config.host}:${config.port}`, policy };
    this.#withdraw = this.#inForce && router.addPortPolicy(this.#inForce);
    this.#functions = functionsOf(config);
  }

  close(): void {
    this.#withdraw?.();
  }

  /** From now on that is what the port says, to everybody who is connected too (X12). */
  adopt(config: WorkerManagerConfig): void {
    const policy = policyOf(config);
    if (this.#inForce !== undefined && policy !== undefined) this.#inForce.policy = policy;
    const { hooks, middlewareFunctionId } = functionsOf(config);
    this.#functions.hooks = hooks;
    this.#functions.middlewareFunctionId = middlewareFunctionId;
  }

  /** How many messages a connection may send; `undefined`: as many as it likes. */
  rate(nowMs: number): MessageRate | undefined {
    return this.#inForce && new MessageRate(this.#limits.messages, nowMs);
  }

  /** `undefined`: connections of this port are simply trusted. */
  forConnection(grant: Grant, nowMs: number): Guard | undefined {
    const { registrationMs, maxAgeMs, askMs } = this.#limits;
    const shared = { port: this.#functions, askMsMax: askMs };
    if (this.#inForce === undefined) {
      if (this.#functions.middlewareFunctionId === undefined) return undefined;
      const never = { idleUntilMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY };
      return new Guard({ ...shared, ...never, access: undefined, rate: undefined });
    }
    return new Guard({
      ...shared,
      access: new Access(this.#inForce, grant, this.#router.registrations),
      rate: this.rate(nowMs),
      idleUntilMs: nowMs + registrationMs,
      expiresAtMs: nowMs + maxAgeMs,
    });
  }
}

function functionsOf({ rbac, middleware_function_id: middlewareFunctionId }: WorkerManagerConfig): PortFunctions {
  return {
    middlewareFunctionId,
    hooks: {
      functions: rbac?.on_function_registration_function_id,
      triggers: rbac?.on_trigger_registration_function_id,
      triggerTypes: rbac?.on_trigger_type_registration_function_id,
    },
  };
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
