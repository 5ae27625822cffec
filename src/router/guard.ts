// What stands between the engine and a connection that is not simply trusted: one of a restricted port (`rbac`), or of
// a port with middleware. A trusted connection has none, and pays nothing for it.

import type { Access } from '../core/access.ts';
import type { MessageRate } from '../core/message-rate.ts';
import { CLOSE_CODES, PROVE_AGAIN } from '../protocol/close-codes.ts';
import { ClientNames } from './client-names.ts';
import type { RouterContext } from './context.ts';
import type { WaitingStep } from './registration-hooks.ts';
import type { Session } from './session.ts';
import { withdraw } from './withdraw.ts';

/** Functions that are asked about registrations (wire 8.5). */
export interface RegistrationHooks {
  readonly functions: string | undefined;
  readonly triggers: string | undefined;
  readonly triggerTypes: string | undefined;
}

/** Functions that the configuration of a port has called, as it is now: it may change while connections are open. */
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
  /** Monotonic time from which on it has to prove itself again, on a new connection (X12). */
  readonly expiresAtMs: number;
  /** How long a hook or the middleware may take. */
  readonly askMsMax: number;
}

export class Guard {
  readonly rules: GuardRules;
  readonly names = new ClientNames();
  /** Whether it has registered or called anything. */
  isEngaged = false;
  /** Frames that wait while a hook is asked about one before them. */
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

/** Ends a connection that has to prove itself again (X12). */
export function closeExpired(context: RouterContext, session: Session, reason: string): void {
  context.counters.count('connections.closed', 'prove_again');
  withdraw(context, session, { code: PROVE_AGAIN, reason });
}

/** One more message came. False: it is one too many, and must not be acted upon. */
export function chargeMessage(context: RouterContext, session: Session, { rules }: Guard): boolean {
  if (session.state === 'closed') return false;
  const verdict = rules.rate?.take(context.clock.monotonicMs()) ?? 'ok';
  if (verdict === 'ok') return true;
  context.counters.count('messages.refused', 'RATE_LIMITED');
  if (verdict === 'flood') {
    context.counters.count('connections.closed', 'too_many_messages');
    context.logger.warn('Connection closed: it sent more messages than it may for 10 s', {
      worker: session.displayName,
      address: session.remoteAddress,
    });
    withdraw(context, session, { code: CLOSE_CODES.tooManyMessages, reason: 'too many messages for 10 s' });
  }
  return false;
}

/** Ends a connection that did nothing since it came. */
export function closeIdle(context: RouterContext, session: Session): void {
  context.counters.count('connections.closed', 'never_used');
  const reason = 'nothing was registered or called in time';
  withdraw(context, session, { code: CLOSE_CODES.notRegistered, reason });
}
