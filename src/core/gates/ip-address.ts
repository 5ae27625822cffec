// Addresses as numbers (X18): every spelling of an address gives the same number, and only numbers are compared.

export type IpAddress =
  | { readonly version: 4; readonly value: number }
  | { readonly version: 6; readonly value: bigint };

/** A range of addresses with a common prefix. */
export interface IpBlock {
  readonly address: IpAddress;
  readonly bits: number;
}

export function readIp(text: string): IpAddress | undefined {
  if (text.includes(':')) {
    const value = readIpv6(text);
    return value === undefined ? undefined : { version: 6, value };
  }
  const value = readIpv4(text);
  return value === undefined ? undefined : { version: 4, value };
}

/** `10.0.0.0/8`, or one address. */
export function readBlock(text: string): IpBlock | undefined {
  const [base = '', bitsText, ...more] = text.split('/');
  const address = readIp(base);
  if (address === undefined || more.length > 0) return undefined;
  const bitsMax = address.version === 4 ? 32 : 128;
  if (bitsText === undefined) return { address, bits: bitsMax };
  const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : Number.NaN;
  return bits <= bitsMax ? { address, bits } : undefined;
}

export function isInBlock(address: IpAddress, block: IpBlock): boolean {
  if (address.version === 4 && block.address.version === 4) {
    const dropped = 2 ** (32 - block.bits);
    return Math.floor(address.value / dropped) === Math.floor(block.address.value / dropped);
  }
  if (address.version !== 6 || block.address.version !== 6) return false;
  const dropped = BigInt(128 - block.bits);
  return address.value >> dropped === block.address.value >> dropped;
}

/** As `inet_aton` parses it: one to four parts, each decimal, octal or hexadecimal; the last one fills the rest. */
function readIpv4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length > 4) return undefined;
  const values = parts.map(readPart);
  const last = values.pop();
  if (last === undefined || values.some((value) => value === undefined || value > 255)) return undefined;
  const room = 256 ** (4 - values.length);
  if (last >= room) return undefined;
  return values.reduce<number>((sum, value, index) => sum + (value ?? 0) * 256 ** (3 - index), last);
}

function readPart(text: string): number | undefined {
  if (/^0x[\da-f]{1,12}$/i.test(text)) return Number.parseInt(text, 16);
  if (/^0[0-7]{0,14}$/.test(text)) return Number.parseInt(text, 8);
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

function readIpv6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => readGroups(half ?? ''));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = tail === undefined ? head : [...head, ...new Array<number>(missing).fill(0), ...tail];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
}

/** The last group may be a dotted IPv4 address, which counts for two. */
function readGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(part)) return undefined;
      const value = readIpv4(part.replaceAll(/\b0+(?=\d)/g, ''));
      if (value === undefined) return undefined;
      groups.push(Math.floor(value / 65_536), value % 65_536);
    } else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
