// The checks between the engine and a connection that is not fully trusted: one of a restricted port (`rbac`), or of a
// port with middleware. A trusted connection has no guard, and pays nothing for it.

import type { Access } from '../../core/access/access.ts';
import type { MessageRate } from '../../core/limits/message-rate.ts';
import { ClientNames } from './client-names.ts';

/** Functions that are asked about registrations (wire 8.5). */
export interface RegistrationHooks {
  readonly functions: string | undefined;
  readonly triggers: string | undefined;
  readonly triggerTypes: string | undefined;
}

/** Functions that the configuration of a port calls, as it is now: it may change while connections are open. */
export interface PortFunctions {
  readonly hooks: RegistrationHooks;
  readonly middlewareFunctionId: string | undefined;
}

export interface GuardRules {
  /** `undefined`: a trusted connection, on a port with middleware. */
  readonly access: Access | undefined;
  readonly rate: MessageRate | undefined;
  readonly port: PortFunctions;
  /** Monotonic time until which the connection must have registered or called something. */
  readonly idleUntilMs: number;
  /** Monotonic time at which the connection has to authenticate again, with a new connection (X12). */
  readonly expiresAtMs: number;
  /** How long a hook or the middleware may take. */
  readonly askMsMax: number;
}

/** A step of a connection's registrations that waits for earlier ones. */
export interface WaitingStep {
  readonly bytes: number;
  readonly run: () => void;
}

export class Guard {
  readonly rules: GuardRules;
  readonly names = new ClientNames();
  /** Whether it has registered or called anything. */
  isEngaged = false;
  /** Frames that wait while a hook is asked about an earlier one. */
  readonly waiting: WaitingStep[] = [];
  waitingBytes = 0;
  isAsking = false;

  constructor(rules: GuardRules) {
    this.rules = rules;
  }

  isIdleTooLong(nowMs: number): boolean {
    return !this.isEngaged && nowMs >= this.rules.idleUntilMs;
  }
}
