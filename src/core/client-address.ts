// Where a request comes from (X15): the peer of the connection or, behind proxies that are trusted, whom they name.

import { isIP } from 'node:net';
import type { AddressBlocks } from './address-block.ts';

/** `forwardedFor`: the header `X-Forwarded-For`, in which each proxy adds whom it saw. */
export function clientAddress(peer: string, forwardedFor: string | undefined, proxies: AddressBlocks): string {
  if (proxies.isEmpty || !proxies.has(peer)) return peer;
  const named = (forwardedFor ?? '').split(',').map((part) => part.trim());
  // From the right, the first that is no proxy of ours; what stands left of it the client may have made up.
  const client = named.reverse().find((address) => !proxies.has(address));
  return client !== undefined && isIP(client) !== 0 ? client : peer;
}
