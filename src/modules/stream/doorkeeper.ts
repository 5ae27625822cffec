// Admission to the stream port. Everything is checked before the upgrade is answered.
//
// The cheapest checks come first: the requested address, the origin of the page, the limits, then the auth function.
// Invariant: a place at the gates is taken once for each connection that is admitted or being checked, and freed
// exactly once: by a refusal, by a client that left early, or by `left`.

import { isLoopbackHost, type OriginRules, originOffence } from '../../core/access/origin.ts';
import { AddressBlocks, clientAddress } from '../../core/limits/client-address.ts';
import { AddressLimit, ConnectionLimit, type ConnectionLimits } from '../../core/limits/connection-limits.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import type { Clock } from '../../effects/clock.ts';
import { SUBPROTOCOL_AUTHORIZATION, SUBPROTOCOL_STREAM } from '../../protocol/frames/subprotocols.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Admission, PeerSocket, PendingAdmission, SocketEvents, UpgradeRequest } from '../../transport/socket.ts';
import type { StreamLimits } from '../module.ts';
import { type AuthVerdict, authorise, NO_CONTEXT } from './auth.ts';
import { readTarget, type Target } from './target.ts';

export interface DoorkeeperParts {
  readonly router: RouterPort;
  readonly clock: Clock;
  readonly origins: OriginRules;
  readonly trustedProxies: readonly string[];
  readonly authFunction: string | undefined;
  readonly limits: Pick<StreamLimits, keyof ConnectionLimits | 'perAddress' | 'authCalls' | 'askMs'>;
  /** A connection was admitted. */
  connected(socket: PeerSocket, visitor: Visitor): SocketEvents;
}

/** The facts of an admitted connection. */
export interface Visitor {
  readonly target: Target;
  readonly address: string;
  readonly isBatched: boolean;
  readonly context: RawJson;
}

type Refused = Extract<Admission, { ok: false }>;

const TRIM_INTERVAL_MS = 10_000;
const PRESSED = 'OVERLOADED: the engine is under too much load';

export class Doorkeeper {
  readonly #parts: DoorkeeperParts;
  readonly #gate: ConnectionLimit;
  readonly #addresses: AddressLimit;
  readonly #proxies: AddressBlocks;
  #handshakes = 0;

  constructor(parts: DoorkeeperParts) {
    this.#parts = parts;
    this.#gate = new ConnectionLimit(parts.limits);
    this.#addresses = new AddressLimit(parts.limits.perAddress);
    this.#proxies = new AddressBlocks(parts.trustedProxies);
  }

  /** Returns a function that stops it. */
  start(): () => void {
    const { clock } = this.#parts;
    return clock.every(TRIM_INTERVAL_MS, () => this.#addresses.trim(clock.monotonicMs()));
  }

  admit(request: UpgradeRequest): Admission | PendingAdmission {
    const target = readTarget(request.path, request.query);
    if (target.kind === 'offence') return refuse(target.status, target.text);
    const headers = { host: request.header('host'), origin: request.header('origin') };
    // Servers and tools send no origin, and may use any name for this machine.
    const offence = headers.origin === undefined ? undefined : originOffence(headers, this.#parts.origins);
    if (offence !== undefined) return refuse(403, offence);
    if (this.#parts.router.isDraining) return refuse(503, 'SHUTTING_DOWN: the engine is stopping');
    if (this.#parts.router.pressure.level >= PRESSURE.protect) return refuse(503, PRESSED);
    const address = clientAddress(request.remoteAddress, request.list('x-forwarded-for'), this.#proxies);
    const refusal = this.#enter(address);
    if (refusal !== undefined) return refusal;
    const visitor = { target, address, isBatched: request.subprotocols.includes(SUBPROTOCOL_STREAM) };
    const subprotocol = chosenSubprotocol(request.subprotocols);
    if (this.#parts.authFunction === undefined) return this.#letIn({ ...visitor, context: NO_CONTEXT }, subprotocol);
    return this.#ask(request, visitor, this.#parts.authFunction, subprotocol);
  }

  /** An admitted connection has ended. */
  left(address: string): void {
    this.#gate.leave();
    if (this.#isCounted(address)) this.#addresses.leave(address);
  }

  #enter(address: string): Refused | undefined {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#parts.authFunction !== undefined && this.#handshakes >= this.#parts.limits.authCalls) {
      return refuse(503, 'OVERLOADED: too many connections wait for the auth function');
    }
    if (this.#isCounted(address) && !this.#addresses.enter(address, nowMs)) {
      return refuse(429, 'RATE_LIMITED: too many connections from this address');
    }
    const verdict = this.#gate.enter(nowMs);
    if (verdict === 'open') return undefined;
    if (this.#isCounted(address)) this.#addresses.leave(address);
    return verdict === 'full'
      ? refuse(503, 'OVERLOADED: this port is at its limit of connections')
      : refuse(429, 'RATE_LIMITED: too many new connections per second');
  }

  /** Many clients share the address of a proxy, and of this machine (PD-27). */
  #isCounted(address: string): boolean {
    return !isLoopbackHost(address) && !LOOPBACK_V6.test(address) && !this.#proxies.has(address);
  }

  #ask(
    request: UpgradeRequest,
    visitor: Omit<Visitor, 'context'>,
    functionId: string,
    subprotocol: string | undefined,
  ): PendingAdmission {
    this.#handshakes += 1;
    let isHere = true;
    const { router, limits } = this.#parts;
    const verdict = authorise(router, functionId, request, visitor.address, limits.askMs).then((answer) => {
      this.#handshakes -= 1;
      const admission = this.#judge(answer, visitor, subprotocol);
      if (isHere && !admission.ok) this.left(visitor.address);
      isHere &&= admission.ok;
      return admission;
    });
    return {
      verdict,
      gone: () => {
        if (isHere) this.left(visitor.address);
        isHere = false;
      },
    };
  }

  #judge(answer: AuthVerdict, visitor: Omit<Visitor, 'context'>, subprotocol: string | undefined): Admission {
    // The reason is for the log of the engine, not for untrusted clients.
    if (!answer.ok) {
      this.#parts.router.count('streams.auth_refused', answer.reason);
      return refuse(401, 'UNAUTHORIZED');
    }
    if (this.#parts.router.isDraining) return refuse(503, 'SHUTTING_DOWN: the engine is stopping');
    return this.#letIn({ ...visitor, context: answer.context }, subprotocol);
  }

  #letIn(visitor: Visitor, subprotocol: string | undefined): Admission {
    return { ok: true, subprotocol, connected: (socket) => this.#parts.connected(socket, visitor) };
  }
}

/** Written in full, as the ws transport does. */
const LOOPBACK_V6 = /^(0000:){7}0001$|^(0000:){5}ffff:7f/;

/** The first known one, and never the token that follows it. */
function chosenSubprotocol(offered: readonly string[]): string | undefined {
  return [SUBPROTOCOL_STREAM, SUBPROTOCOL_AUTHORIZATION].find((name) => offered.includes(name));
}

function refuse(status: number, text: string): Refused {
  return { ok: false, status, text };
}
