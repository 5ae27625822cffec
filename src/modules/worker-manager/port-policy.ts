// The access policy of one port, applied to each of its connections.

import { Access, type AccessPolicy, type Grant, type PolicyInForce } from '../../core/access/access.ts';
import { readExposeEntry } from '../../core/access/expose-filter.ts';
import { ChannelShare } from '../../core/channels/channel-share.ts';
import { MessageRate } from '../../core/limits/message-rate.ts';
import type { RouterPort } from '../../router/port.ts';
import { Guard, type PortFunctions } from '../../router/restricted/guard.ts';
import type { BrowserLimits } from '../module.ts';
import { leavesTriggerTypesToHooks, portName, type WorkerManagerConfig } from './config.ts';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export class PortPolicy {
  readonly #limits: BrowserLimits;
  readonly #router: RouterPort;
  /**
   * `undefined`: the port trusts every connection. Connections read it here and below: a change applies to all of them.
   */
  readonly #inForce: Writable<PolicyInForce> | undefined;
  readonly #functions: Writable<PortFunctions>;
  /** Other parts need the policy too: work on behalf of connections that have ended uses it. */
  readonly #withdraw: (() => void) | undefined;

  constructor(config: WorkerManagerConfig, limits: BrowserLimits, router: RouterPort) {
    this.#limits = limits;
    this.#router = router;
    const policy = policyOf(config, router.isDropIn);
    this.#inForce = policy && { port: portName(config), policy };
    this.#withdraw = this.#inForce && router.addPortPolicy(this.#inForce);
    this.#functions = functionsOf(config);
  }

  close(): void {
    this.#withdraw?.();
  }

  /** Applies the new configuration, to open connections too (X12). */
  adopt(config: WorkerManagerConfig): void {
    const policy = policyOf(config, this.#router.isDropIn);
    if (this.#inForce !== undefined && policy !== undefined) this.#inForce.policy = policy;
    const { hooks, middlewareFunctionId } = functionsOf(config);
    this.#functions.hooks = hooks;
    this.#functions.middlewareFunctionId = middlewareFunctionId;
  }

  /** The message rate of a connection; `undefined`: unlimited. */
  rate(nowMs: number): MessageRate | undefined {
    return this.#inForce && new MessageRate(this.#limits.messages, nowMs);
  }

  /** For one end of a channel of another engine or router, which has no part in the share of its worker. */
  channelShare(nowMs: number): ChannelShare | undefined {
    return this.#inForce && new ChannelShare(this.#limits.channels, nowMs);
  }

  /** `undefined`: connections of this port are trusted. */
  forConnection(grant: Grant, nowMs: number): Guard | undefined {
    const { registrationMs, maxAgeMs, askMs, channels } = this.#limits;
    const shared = { port: this.#functions, askMsMax: askMs };
    if (this.#inForce === undefined) {
      if (this.#functions.middlewareFunctionId === undefined) return undefined;
      const never = { idleUntilMs: Number.POSITIVE_INFINITY, expiresAtMs: Number.POSITIVE_INFINITY };
      return new Guard({ ...shared, ...never, access: undefined, rate: undefined, firingRate: undefined });
    }
    return new Guard({
      ...shared,
      access: new Access(this.#inForce, grant, this.#router.registrations, new ChannelShare(channels, nowMs)),
      rate: this.rate(nowMs),
      firingRate: this.rate(nowMs),
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

function policyOf(config: WorkerManagerConfig, isDropIn: boolean): AccessPolicy | undefined {
  const { rbac } = config;
  if (rbac === undefined) return undefined;
  const expose = rbac.expose_functions.map((entry) => {
    const read = readExposeEntry(entry);
    if (!read.ok) throw new Error(`The loader accepted an invalid entry of expose_functions: ${read.reason}`);
    return read.value;
  });
  const triggerTypes = isDropIn && leavesTriggerTypesToHooks(config) ? 'all' : new Set(rbac.allow_trigger_types);
  return { expose, triggerTypes, sharedQueues: new Set(rbac.shared_queues) };
}
