// Whether a request is admitted, by the headers that say where it comes from (X3). Any web page can open a WebSocket to
// localhost, and any name can be made to resolve to it: the headers of a browser reveal both.
//
// Browsers fetch images, scripts and frames without an `Origin`, and follow the links and redirects of any page: the
// answer stays hidden from that page, but the engine would have carried the request out. `Sec-Fetch-Site` shows this,
// and no page can forge it.

import { isIPv4, isIPv6 } from 'node:net';

/** Why the request is refused, in words; `undefined` lets it in. */
export function originOffence(headers: RequestOrigin, rules: OriginRules): string | undefined {
  const { host, origin } = headers;
  if (host === undefined || !isServedHost(host, rules)) return notServed(host);
  // Servers and tools send no Origin; browsers always do.
  if (origin === undefined || rules.allowedOrigins.includes(origin.toLowerCase())) return undefined;
  if (rules.servesOwnPages === true && rules.allowedOrigins.length === 0 && isSameHost(origin, host)) return undefined;
  return `Origin ${quote(origin)} is not allowed; name it in allowed_origins of this listener`;
}

/** The same check for the host name of the request alone. Every listener that checks it calls this. */
export function hostOffence(host: string | undefined, rules: HostRules): string | undefined {
  return host !== undefined && isServedHost(host, rules) ? undefined : notServed(host);
}

function notServed(host: string | undefined): string {
  return `Host ${quote(host)} is not served here; name it in allowed_hosts`;
}

export interface RequestOrigin {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export interface HostRules {
  /** The address the listener is bound to. */
  readonly boundHost: string;
  /** Further names that it serves, lower case, without port. */
  readonly allowedHosts: readonly string[];
}

export interface OriginRules extends HostRules {
  /** Whole origins, lower case. */
  readonly allowedOrigins: readonly string[];
  /** Where no origin is listed: whether pages of the requested host itself are admitted, on any port. */
  readonly servesOwnPages?: boolean;
}

/** Bound to every address of the machine: any address is served, but names must still be configured. */
const ANY_ADDRESS = ['0.0.0.0', '::', '[::]'];

/** PD-42: the same host name, any port. */
export function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).hostname === hostName(host);
}

function hostName(header: string): string {
  return header.toLowerCase().replace(/:\d+$/, '');
}

function isServedHost(header: string, { boundHost, allowedHosts }: HostRules): boolean {
  const name = hostName(header);
  if (isLoopbackName(name)) return true;
  if ([boundHost.toLowerCase(), ...allowedHosts].some((served) => hostInUrl(served) === name)) return true;
  return ANY_ADDRESS.includes(boundHost) && IP_ADDRESS.test(name);
}

/**
 * A name that no attacker can make resolve here: an address of this machine itself, `localhost`, or a name below it,
 * which no name server hands out (RFC 6761).
 */
function isLoopbackName(name: string): boolean {
  return LOCALHOST.test(name) || isLoopbackIPv4(name) || loopbackIPv6(name) === 'own';
}

const LOCALHOST = /^([\da-z_-]+\.)*localhost$/;

function isLoopbackIPv4(name: string): boolean {
  return name.startsWith('127.') && isIPv4(name);
}

const MAPPED_LOOPBACK = /^\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]$/;

/** Of an address in brackets. `mapped`: an IPv4 address in IPv6 form, which browsers do not use. */
function loopbackIPv6(name: string): 'own' | 'mapped' | undefined {
  if (!name.startsWith('[') || !isIPv6(bareHost(name)) || name.includes('%')) return undefined;
  const { hostname } = new URL(`http://${name}`);
  if (hostname === '[::1]') return 'own';
  return MAPPED_LOOPBACK.test(hostname) ? 'mapped' : undefined;
}

/** A dotted IPv4 or a bracketed IPv6 address: not a name that an attacker's name server could answer. */
const IP_ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/;

/** An address in the form of URLs and of the `Host` header: IPv6 in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** An address in the form that the system takes, to listen on or to connect to: IPv6 without the brackets. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

function quote(value: string | undefined): string {
  return value === undefined ? '(none)' : `'${value.slice(0, 100)}'`;
}

/** Whether only this machine can reach a listener that is bound to an address. */
export function isLoopbackHost(host: string): boolean {
  const name = hostInUrl(host.toLowerCase());
  return name === 'localhost' || isLoopbackIPv4(name) || loopbackIPv6(name) !== undefined;
}

/**
 * Why the request is refused, in words; `undefined` lets it in. `header`: a header of the request by its name. An
 * `Origin` is checked elsewhere, against the lists.
 */
export function fetchSiteOffence(header: (name: string) => string | undefined): string | undefined {
  const site = header('sec-fetch-site');
  // Not a browser, an address that a person typed, or the listener's own page.
  if (site === undefined || site === 'none' || site === 'same-origin') return undefined;
  if (header('origin') !== undefined) return undefined;
  // A link on a page of this very site, such as the console on its own port, that opens the data as a page.
  const isPage = header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document';
  if (site === 'same-site' && isPage) return undefined;
  const quoted = site.slice(0, SITE_CHARS_MAX);
  return `Pages of other sites may not ask for this (Sec-Fetch-Site: ${quoted}); open the address itself`;
}

const SITE_CHARS_MAX = 20;
