// The checks between the engine and a connection that is not fully trusted: one of a restricted port (`rbac`), or of a
// port with middleware. A trusted connection has no guard, and pays nothing for it.

import type { Access } from '../../core/access/access.ts';
import type { MessageRate } from '../../core/limits/message-rate.ts';
import { CLOSE_CODES, PROVE_AGAIN } from '../../protocol/frames/close-codes.ts';
import type { RouterContext } from '../context.ts';
import type { WaitingStep } from '../registrations/registration-hooks.ts';
import { withdraw } from '../registrations/withdraw.ts';
import type { Session } from '../session/session.ts';
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

/** Ends a connection that has to authenticate again (X12). */
export function closeExpired(context: RouterContext, session: Session, reason: string): void {
  context.counters.count('connections.closed', 'prove_again');
  withdraw(context, session, { code: PROVE_AGAIN, reason });
}

/** Counts one more message. False: it is over the limit and must not be handled. */
export function chargeMessage(context: RouterContext, session: Session, { rules }: Guard): boolean {
  if (session.state === 'closed') return false;
  const verdict = rules.rate?.take(context.clock.monotonicMs()) ?? 'ok';
  if (verdict === 'ok') return true;
  context.counters.count('messages.refused', 'RATE_LIMITED');
  if (verdict === 'flood') {
    context.counters.count('connections.closed', 'too_many_messages');
    context.logger.warn('Connection closed: it exceeded its message rate for 10 s', {
      worker: session.displayName,
      address: session.remoteAddress,
    });
    withdraw(context, session, { code: CLOSE_CODES.tooManyMessages, reason: 'too many messages for 10 s' });
  }
  return false;
}

/** Ends a connection that did nothing since it connected. */
export function closeIdle(context: RouterContext, session: Session): void {
  context.counters.count('connections.closed', 'never_used');
  const reason = 'nothing was registered or called in time';
  withdraw(context, session, { code: CLOSE_CODES.notRegistered, reason });
}
