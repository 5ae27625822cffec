// Where a request comes from (X15): the peer of the connection, or, behind proxies that are trusted, whom they name.

import type { AddressBlocks } from '../../core/address-block.ts';
import type { HttpExchange } from '../../transport/http.ts';
import { headerOf } from './request-text.ts';

export function clientAddress(exchange: HttpExchange, trusted: AddressBlocks): string {
  const peer = plainAddress(exchange.remoteAddress);
  if (trusted.isEmpty || !trusted.has(peer)) return peer;
  const chain = (headerOf(exchange.headers, 'x-forwarded-for') ?? '')
    .split(',')
    .map((part) => plainAddress(part.trim()))
    .filter((part) => part !== '');
  // Each proxy adds whom it saw: from the right, the first that is no proxy of ours.
  for (const address of chain.reverse()) if (!trusted.has(address)) return address;
  return chain.at(-1) ?? peer;
}

/** Whether somebody on this machine asks, and not through a proxy that stands on it. */
export function isLocalClient(exchange: HttpExchange, trusted: AddressBlocks): boolean {
  const address = clientAddress(exchange, trusted);
  if (!/^127(\.\d{1,3}){3}$/.test(address) && address !== '0000:0000:0000:0000:0000:0000:0000:0001') return false;
  // A proxy nobody told us of forwards strangers from here.
  const isForwarded = FORWARDED.some((name) => headerOf(exchange.headers, name) !== undefined);
  return !isForwarded || trusted.has(plainAddress(exchange.remoteAddress));
}

const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];
const MAPPED = '0000:0000:0000:0000:0000:ffff:';

/** IPv4 in the guise of IPv6 as what it is. */
function plainAddress(address: string): string {
  if (!address.startsWith(MAPPED)) return address;
  const hex = address.slice(MAPPED.length).replace(':', '');
  return [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');
}
