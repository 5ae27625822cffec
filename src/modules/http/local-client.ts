// Whether a request comes from this machine, for functions that are limited to it (X4).

import { plainAddress } from '../../core/limits/client-address.ts';
import type { HttpExchange } from '../../transport/http.ts';
import { headerOf } from './requests/request-text.ts';

/**
 * Whether the client is on this machine and not a proxy on it: what a proxy reports about its clients, trusted or not,
 * makes no request local.
 */
export function isLocalClient({ headers, remoteAddress }: Pick<HttpExchange, 'headers' | 'remoteAddress'>): boolean {
  const peer = plainAddress(remoteAddress);
  if (!/^127(\.\d{1,3}){3}$/.test(peer) && peer !== '0000:0000:0000:0000:0000:0000:0000:0001') return false;
  return FORWARDED.every((name) => headerOf(headers, name) === undefined);
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];
