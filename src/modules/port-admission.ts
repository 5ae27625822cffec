// Admission to a port for WebSockets: the decision whether a connection may be opened. The worker ports and the stream
// port share what does not depend on their protocol: the address of the client, drain and load, how many connections
// the port and the address may have, and verdicts that come later.
//
// A connection that is admitted, or waits for its verdict, is counted once. It is counted off once: by a refusal, by a
// client that left early, or by `leave` when it has ended.

import { isLoopbackHost } from '../core/access/origin.ts';
import { AddressBlocks, clientAddress } from '../core/limits/client-address.ts';
import type { AddressUses, ConnectionLimits, SharedPort } from '../core/limits/connection-counts.ts';
import { AddressLimit, ConnectionLimit } from '../core/limits/connection-limits.ts';
import { PRESSURE, type PressureLevel } from '../core/limits/pressure.ts';
import type { Clock } from '../effects/clock.ts';
import type { Admission, PendingAdmission, UpgradeRequest } from '../transport/socket.ts';

export type Admitted = Extract<Admission, { ok: true }>;
export type Refused = Extract<Admission, { ok: false }>;

export interface PortAdmissionOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'every'>;
  readonly engine: { readonly isDraining: boolean; readonly pressure: { readonly level: PressureLevel } };
  readonly limits: ConnectionLimits;
  /** `undefined`: an address has no limits of its own. */
  readonly perAddress: ConnectionLimits | undefined;
  readonly trustedProxies: readonly string[];
  /** Asks the whole process for one more open file; false makes the port full. */
  readonly takeDescriptor?: () => boolean;
  /** What the port counts together with the other routers. */
  readonly shared?: SharedPort | undefined;
}

export class PortAdmission {
  readonly #clock: PortAdmissionOptions['clock'];
  readonly #engine: PortAdmissionOptions['engine'];
  readonly #connections: ConnectionLimit;
  readonly #addresses: AddressUses | undefined;
  readonly #proxies: AddressBlocks;

  constructor({ clock, engine, limits, perAddress, trustedProxies, takeDescriptor, shared }: PortAdmissionOptions) {
    this.#clock = clock;
    this.#engine = engine;
    this.#connections = new ConnectionLimit(limits, takeDescriptor, shared);
    this.#addresses = perAddress && (shared?.addresses?.(perAddress) ?? new AddressLimit(perAddress));
    this.#proxies = new AddressBlocks(trustedProxies);
  }

  /** Forgets addresses without connections now and then. Returns a function that stops it. */
  start(): () => void {
    return this.#clock.every(TRIM_INTERVAL_MS, () => this.#addresses?.trim(this.#clock.monotonicMs()));
  }

  addressOf(request: UpgradeRequest): string {
    return clientAddress(request.remoteAddress, request.list('x-forwarded-for'), this.#proxies);
  }

  /** Why the engine takes no connection at all now. */
  engineRefusal(): Refused | undefined {
    if (this.#engine.pressure.level >= PRESSURE.protect) return refusal(503, OVERLOADED);
    return this.#engine.isDraining ? STOPPING : undefined;
  }

  /** Counts one more connection of that address, or returns why it is over a limit. */
  enter(address: string): Refused | undefined {
    const nowMs = this.#clock.monotonicMs();
    const addresses = this.#limitFor(address);
    if (addresses?.enter(address, nowMs) === false) {
      return refusal(429, 'RATE_LIMITED: too many connections from this address');
    }
    const verdict = this.#connections.enter(nowMs);
    if (verdict === 'open') return undefined;
    addresses?.leave(address);
    return verdict === 'full'
      ? refusal(503, 'OVERLOADED: this port is at its limit of connections')
      : refusal(429, 'RATE_LIMITED: too many new connections per second');
  }

  /** A connection that was counted has ended. */
  leave(address: string): void {
    this.#connections.leave();
    this.#limitFor(address)?.leave(address);
  }

  /** The verdict on a counted connection comes later. It stays counted unless it is refused or leaves early. */
  pending(address: string, answer: Promise<Admission>): PendingAdmission {
    let isCounted = true;
    const leave = (): void => {
      if (isCounted) this.leave(address);
      isCounted = false;
    };
    const verdict = answer.then((admission) => {
      if (!admission.ok) leave();
      return admission;
    });
    return { verdict, gone: leave };
  }

  /** Many people share the address of this machine and of proxies: it has no limits of its own (PD-27). */
  #limitFor(address: string): AddressUses | undefined {
    const isShared = isLoopbackHost(address) || address === LOOPBACK_IPV6 || this.#proxies.has(address);
    return isShared ? undefined : this.#addresses;
  }
}

export function refusal(status: number, text: string): Refused {
  return { ok: false, status, text };
}

export const STOPPING = refusal(503, 'SHUTTING_DOWN: the engine is stopping');

const OVERLOADED = 'OVERLOADED: the engine is under too much load';
const TRIM_INTERVAL_MS = 5_000;
/** In the form of the transports. */
const LOOPBACK_IPV6 = '0000:0000:0000:0000:0000:0000:0000:0001';
