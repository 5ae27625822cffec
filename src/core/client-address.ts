// Where a request comes from (X15): the peer of the connection or, behind proxies that are trusted, whom they name.

import { isIP } from 'node:net';
import type { AddressBlocks } from './address-block.ts';

/**
 * `peer`: as the transports write it. `forwardedFor`: all lines of the header `X-Forwarded-For`, in which each proxy
 * adds whom it saw, to the line that is there or on a line of its own.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, proxies: AddressBlocks): string {
  const plain = plainAddress(peer);
  if (proxies.isEmpty || !proxies.has(plain)) return plain;
  const named = (forwardedFor ?? '').split(',').map((part) => part.trim());
  // From the right, the first that is no proxy of ours; what stands left of it the client may have made up.
  const client = named.reverse().find((address) => address !== '' && !proxies.has(address));
  return client !== undefined && isIP(client) !== 0 ? client : plain;
}

/** IPv4 in the guise of IPv6, in which a port of every address sees it, as what it is. */
export function plainAddress(address: string): string {
  if (!address.startsWith(MAPPED)) return address;
  const hex = address.slice(MAPPED.length).replace(':', '');
  return [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');
}

const MAPPED = '0000:0000:0000:0000:0000:ffff:';
