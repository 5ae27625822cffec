// May this request come in, by what its headers say of where it comes from (X3)? Any web page can open a
// WebSocket to localhost, and any name can be made to point there: both are told by the headers of a browser.

/** Why the request is refused, in words; `undefined` lets it in. */
export function originOffence(headers: RequestOrigin, rules: OriginRules): string | undefined {
  const { host, origin } = headers;
  if (host === undefined || !isServedHost(host, rules)) {
    return `Host ${quote(host)} is not served here; name it in allowed_hosts`;
  }
  // Servers and tools send no Origin; browsers always do.
  if (origin === undefined || rules.allowedOrigins.includes(origin.toLowerCase())) return undefined;
  if (rules.servesOwnPages === true && rules.allowedOrigins.length === 0 && isSameHost(origin, host)) return undefined;
  return `Origin ${quote(origin)} is not allowed; name it in allowed_origins of this listener`;
}

export interface RequestOrigin {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export interface OriginRules {
  /** The address the listener is bound to. */
  readonly boundHost: string;
  /** Further names it was told to serve, lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** Whole origins, lower case. */
  readonly allowedOrigins: readonly string[];
  /** Where no origin is listed: whether pages of the very host that is asked may come, whatever their port. */
  readonly servesOwnPages?: boolean;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Bound to every address of the machine: then any address is served, but still no name it was not told. */
const ANY_ADDRESS = ['0.0.0.0', '::', '[::]'];

/** Decisions 42: the same host name, any port. */
export function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).hostname === hostName(host);
}

function hostName(header: string): string {
  return header.toLowerCase().replace(/:\d+$/, '');
}

function isServedHost(header: string, { boundHost, allowedHosts }: OriginRules): boolean {
  const name = hostName(header);
  const told = [...LOOPBACK_NAMES, ...[boundHost.toLowerCase(), ...allowedHosts].map(hostInUrl)];
  if (told.includes(name)) return true;
  return ANY_ADDRESS.includes(boundHost) && IP_ADDRESS.test(name);
}

/** A dotted IPv4 or a bracketed IPv6 address: no name that somebody else's name server could answer for. */
const IP_ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/;

/** An address as it stands in URLs and in the `Host` header: IPv6 in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** An address as the system takes it, to listen on or to connect to: IPv6 without the brackets. */
export function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

function quote(value: string | undefined): string {
  return value === undefined ? '(none)' : `'${value.slice(0, 100)}'`;
}

/** Whether only this machine can reach an address. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}
