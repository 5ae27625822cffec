// The host names under which the routes of a loopback listener answer (X3). Any name can be made to point to this
// machine, and a page of that name has the same origin as the listener: neither `Origin` nor CORS stops it, the Host
// check does.
//
// A listener that other machines reach serves its routes under every name: they are public there, under names that
// proxies and name servers know, and the engine does not.

import { type HostRules, hostOffence, isLoopbackHost } from '../../core/access/origin.ts';
import { type AddressBlocks, plainAddress } from '../../core/limits/client-address.ts';
import type { HttpExchange } from '../../transport/http.ts';
import type { ModuleSettings } from '../module.ts';
import type { HttpConfig } from './config.ts';
import { headerOf } from './requests/header-lines.ts';

export class ServedHosts {
  readonly #rules: HostRules;
  readonly #proxies: AddressBlocks;
  readonly #isLoopback: boolean;
  /** Nearly every request has the host of the request before. */
  #lastServed: string | undefined;

  constructor(
    { host }: Pick<HttpConfig, 'host'>,
    { allowedHosts }: Pick<ModuleSettings, 'allowedHosts'>,
    proxies: AddressBlocks,
  ) {
    this.#rules = { boundHost: host, allowedHosts: allowedHosts.map((name) => name.toLowerCase()) };
    this.#proxies = proxies;
    this.#isLoopback = isLoopbackHost(host);
  }

  /** Why the request is refused, in words; `undefined` admits it. */
  offence({ headers, remoteAddress }: Pick<HttpExchange, 'headers' | 'remoteAddress'>): string | undefined {
    if (!this.#isLoopback) return undefined;
    const host = headerOf(headers, 'host');
    if (host !== undefined && host === this.#lastServed) return undefined;
    const offence = hostOffence(host, this.#rules);
    if (offence === undefined) this.#lastServed = host;
    // A proxy has checked the host name already, and forwards it unchanged.
    if (offence !== undefined && this.#proxies.has(plainAddress(remoteAddress))) return undefined;
    return offence;
  }
}

/**
 * Whether the client is on this machine and not a proxy on it (X4): what a proxy reports about its clients, trusted or
 * not, makes no request local.
 */
export function isLocalClient({ headers, remoteAddress }: Pick<HttpExchange, 'headers' | 'remoteAddress'>): boolean {
  const peer = plainAddress(remoteAddress);
  if (!/^127(\.\d{1,3}){3}$/.test(peer) && peer !== '0000:0000:0000:0000:0000:0000:0000:0001') return false;
  return FORWARDED.every((name) => headerOf(headers, name) === undefined);
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];
