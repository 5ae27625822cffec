// Where the engine may send a request that a user configured (X16 to X18): pure checks before and after the host name
// is resolved. Addresses are compared as numbers, because one address has many spellings.

/** Hosts and addresses that the operator listed: reached over plain http, on any port and at any address (PD-22). */
export interface OutgoingAllowList {
  readonly hosts: ReadonlySet<string>;
  readonly blocks: readonly IpBlock[];
}

/** A URL that may be requested, if its host resolves to allowed addresses. */
export interface OutgoingTarget {
  readonly url: URL;
  /** Lower case, without brackets and final dot. */
  readonly host: string;
  readonly isHostListed: boolean;
  /** Why it is refused unless the operator listed its addresses; undefined: it needs no listing. */
  readonly offence: string | undefined;
  /** The host is an address itself. */
  readonly address: IpAddress | undefined;
}

export type Judged<T> =
  | { readonly ok: true; readonly value: T }
  /** The refusal, without revealing an internal address. */
  | { readonly ok: false; readonly reason: string };

const NOT_LISTED = 'name its host or address in outgoing.allow';

/** `wrong`: an entry that is not a host name, an address or a block. */
export function readAllowList(entries: readonly string[]): OutgoingAllowList | { readonly wrong: string } {
  const hosts = new Set<string>();
  const blocks: IpBlock[] = [];
  for (const entry of entries) {
    const block = readBlock(entry.replace(/^\[(.*)\]$/, '$1'));
    if (block !== undefined) blocks.push(block);
    else if (HOST_NAME.test(entry)) hosts.add(plainHost(entry));
    else return { wrong: entry };
  }
  return { hosts, blocks };
}

/** Entries that were checked before. */
export function allowListOf(entries: readonly string[]): OutgoingAllowList {
  const list = readAllowList(entries);
  if ('wrong' in list) throw new Error(`The loader accepted an invalid entry: ${list.wrong}`);
  return list;
}

/** The verdict from the text of the URL alone. */
export function judgeUrl(text: string, listed: OutgoingAllowList): Judged<OutgoingTarget> {
  if (!URL.canParse(text)) return refuse('it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse(`its scheme is not https`);
  if (url.username !== '' || url.password !== '') return refuse('it carries user info');
  const host = plainHost(url.hostname);
  const target: OutgoingTarget = {
    url,
    host,
    isHostListed: listed.hosts.has(host),
    offence: offenceOf(url),
    address: readIp(host),
  };
  if (target.address !== undefined) return judgeAddresses(target, [target.address], listed);
  // The name may still resolve to an address of a listed block.
  if (target.offence !== undefined && !target.isHostListed && listed.blocks.length === 0) return refuse(target.offence);
  return { ok: true, value: target };
}

/** The verdict from the addresses, all of them: one refused address refuses the name. */
export function judgeAddresses(
  target: OutgoingTarget,
  addresses: readonly IpAddress[],
  listed: OutgoingAllowList,
): Judged<OutgoingTarget> {
  if (addresses.length === 0) return refuse(`its host ${target.host} has no address`);
  if (target.isHostListed) return { ok: true, value: target };
  if (addresses.every((address) => listed.blocks.some((block) => isInBlock(address, block)))) {
    return { ok: true, value: target };
  }
  if (target.offence !== undefined) return refuse(target.offence);
  if (addresses.some(isRefused)) return refuse(`its host is not on the public internet; ${NOT_LISTED}`);
  return { ok: true, value: target };
}

function offenceOf(url: URL): string | undefined {
  if (url.protocol !== 'https:') return `its scheme is not https; ${NOT_LISTED}`;
  // The URL leaves out the default port of its scheme.
  if (url.port === '' || url.port === '80') return undefined;
  return `its port ${url.port} is neither 443 nor 80; ${NOT_LISTED}`;
}

function refuse(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

const HOST_NAME = /^(?=.{1,253}\.?$)[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,62})(\.[\p{L}\p{N}_-]{1,63})*\.?$/u;

/** X18: addresses that no request of a user may reach unless the operator listed them. */
export function isRefused(address: IpAddress): boolean {
  if (address.version === 4) return REFUSED_IPV4.some((block) => isInBlock(address, block));
  if (REFUSED_IPV6.some((block) => isInBlock(address, block))) return true;
  if (LOCAL_NAT64.some((block) => isInBlock(address, block)) && upperHalf(address.value) !== 0n) return true;
  return CARRIES_IPV4.some((block) => isInBlock(address, block)) && isRefused(ipv4Inside(address.value));
}

/** The 32 bits above the last 32. */
function upperHalf(value: bigint): bigint {
  return (value >> 32n) & 0xffffffffn;
}

function ipv4Inside(value: bigint): IpAddress {
  return { version: 4, value: Number(value & 0xffffffffn) };
}

const REFUSED_IPV4 = blocks(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
    '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
);
const REFUSED_IPV6 = blocks('::/128 ::1/128 fc00::/7 fe80::/10 ff00::/8 2001:db8::/32 100::/64 2001::/32 2002::/16');
const CARRIES_IPV4 = blocks('::/96 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48');
/**
 * The network chooses the length of the prefix, so the address may be further up: then anyone may control the last
 * bits.
 */
const LOCAL_NAT64 = blocks('64:ff9b:1::/48');

function blocks(text: string): IpBlock[] {
  return text.split(' ').map((one) => {
    const block = readBlock(one);
    if (block === undefined) throw new Error(`${one} is not a block of addresses`);
    return block;
  });
}

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
  const lastMax = 256 ** (4 - values.length);
  if (last >= lastMax) return undefined;
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
