// The address that a request comes from (X15): the peer of the connection or, if that is a trusted proxy, the address
// that it reports.

import { isIP } from 'node:net';
import type { AddressBlocks } from './address-block.ts';

/**
 * `peer`: as the transports write it. `forwardedFor`: all lines of the header `X-Forwarded-For`, in which each proxy
 * adds the address it saw, to the existing line or on a line of its own.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, proxies: AddressBlocks): string {
  const plain = plainAddress(peer);
  if (proxies.isEmpty || !proxies.has(plain)) return plain;
  const named = (forwardedFor ?? '').split(',').map((part) => part.trim());
  // From the right, the first that is not a trusted proxy; the client may have made up entries left of it.
  const client = named.reverse().find((address) => address !== '' && !proxies.has(address));
  return client !== undefined && isIP(client) !== 0 ? client : plain;
}

/** An IPv4 address in IPv6 form, as a port of every address sees it, is written as IPv4. */
export function plainAddress(address: string): string {
  if (!address.startsWith(MAPPED)) return address;
  const hex = address.slice(MAPPED.length).replace(':', '');
  return [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');
}

const MAPPED = '0000:0000:0000:0000:0000:ffff:';
