// Who is on this machine, for what only this machine may ask (X4).

import { plainAddress } from '../../core/client-address.ts';
import type { HttpExchange } from '../../transport/http.ts';
import { headerOf } from './request-text.ts';

/**
 * Whether somebody on this machine asks, and not through a proxy that stands on it: what a proxy says of whom it
 * forwards, trusted or not, makes nobody local.
 */
export function isLocalClient({ headers, remoteAddress }: Pick<HttpExchange, 'headers' | 'remoteAddress'>): boolean {
  const peer = plainAddress(remoteAddress);
  if (!/^127(\.\d{1,3}){3}$/.test(peer) && peer !== '0000:0000:0000:0000:0000:0000:0000:0001') return false;
  return FORWARDED.every((name) => headerOf(headers, name) === undefined);
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];
