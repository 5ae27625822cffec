// Where the engine may send a request that a user configured (X16 to X18): pure checks before and after the host name
// is resolved.

import { type IpAddress, type IpBlock, isInBlock, readBlock, readIp } from './ip-address.ts';

/** Hosts and addresses that the operator listed: reached over plain http, on any port and at any address (PD-22). */
export interface ListedPlaces {
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
export function readListedPlaces(entries: readonly string[]): ListedPlaces | { readonly wrong: string } {
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
export function listPlaces(entries: readonly string[]): ListedPlaces {
  const places = readListedPlaces(entries);
  if ('wrong' in places) throw new Error(`The loader accepted an invalid entry: ${places.wrong}`);
  return places;
}

/** The verdict from the text of the URL alone. */
export function judgeUrl(text: string, listed: ListedPlaces): Judged<OutgoingTarget> {
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
  listed: ListedPlaces,
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
