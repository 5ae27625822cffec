// Blocks of addresses, as users write them: `10.0.0.0/8`, `::1`, `192.0.2.7`.

import { BlockList, isIPv4, isIPv6 } from 'node:net';

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
