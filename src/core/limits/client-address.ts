// The address that a request comes from (X15): the peer address of the connection or, if that is a trusted proxy, the
// address that it reports. Blocks of addresses are as users write them: `10.0.0.0/8`, `::1`, `192.0.2.7`. Both socket
// libraries report an address in the form of `fullAddress`, so that one client has one address.

import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

interface AddressBlock {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** `undefined`: the text is not a block. */
export function parseAddressBlock(text: string): AddressBlock | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
  if (family === undefined || rest.length > 0) return undefined;
  const bitsMax = family === 'ipv4' ? 32 : 128;
  if (length === undefined) return { address, bits: bitsMax, family };
  return /^\d{1,3}$/.test(length) && Number(length) <= bitsMax ? { address, bits: Number(length), family } : undefined;
}

/** Whether an address lies in one of several blocks. IPv4 in IPv6 form counts as IPv4. */
export class AddressBlocks {
  readonly isEmpty: boolean;
  readonly #list = new BlockList();

  constructor(texts: readonly string[]) {
    this.isEmpty = texts.length === 0;
    for (const text of texts) {
      const block = parseAddressBlock(text);
      if (block === undefined) throw new Error(`The loader accepted an invalid address: ${text}`);
      this.#list.addSubnet(block.address, block.bits, block.family);
    }
  }

  has(address: string): boolean {
    if (isIPv4(address)) return this.#list.check(address, 'ipv4');
    return isIPv6(address) && this.#list.check(address, 'ipv6');
  }
}

/** IPv4 as it is; IPv6 in full, eight groups of four digits, without its zone. */
export function fullAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  const [front = '', back = ''] = bare.split('::');
  const [before, after] = [groupsOf(front), groupsOf(back)];
  const zeros = Array<string>(GROUPS - before.length - after.length).fill('0000');
  return [...before, ...zeros, ...after].join(':');
}

const GROUPS = 8;

function groupsOf(part: string): string[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => (group.includes('.') ? groupsOfDotted(group) : [group.padStart(4, '0')]));
}

/** The IPv4 address at the end of a mapped one is two groups. */
function groupsOfDotted(dotted: string): string[] {
  const hex = dotted.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return [hex.slice(0, 2).join(''), hex.slice(2).join('')];
}

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
