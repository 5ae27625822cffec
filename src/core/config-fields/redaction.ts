// Which names mean a secret (X22). The logger, the console and the configuration output all use this, so that no two of
// them can disagree. The rule is by key, never by whether a value looks like a secret.

import { JSON_DEPTH_MAX } from '../../protocol/frames/limits.ts';
import { isExactNumber } from '../calls/exact-json.ts';

export const REDACTED = '[redacted]';

const SECRET_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'sec-websocket-protocol',
  'baggage',
]);

/** Compared without `-`, `_` and case, so that `x-api-key`, `apiKey` and `API_KEY` are one word. */
const SECRET_WORDS = ['token', 'secret', 'password', 'passwd', 'apikey', 'accesskey', 'privatekey', 'credential'];

/**
 * A copy of a JSON-like value in which everything under a secret key is replaced. Addresses under keys that end in
 * `url` or the like lose user info and query, and those of webhooks their path too. Values that are neither lists nor
 * plain objects pass unchanged. `key` is the key of the value itself.
 */
export function redactKeys(value: unknown, key = ''): unknown {
  return redactBelow(key, value, new Set());
}

/** The same for a record, which stays one. */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactProperties(fields, new Set([fields]));
}

export function isSecretKey(key: string): boolean {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const isSecret = isSecretName(key);
  if (knownKeys.size < KNOWN_KEYS_MAX && key.length <= KNOWN_CHARS_MAX) knownKeys.set(key, isSecret);
  return isSecret;
}

/** Nearly all keys occur again and again. Clients choose them, so the cache is bounded. */
const knownKeys = new Map<string, boolean>();
const KNOWN_KEYS_MAX = 4_096;
const KNOWN_CHARS_MAX = 64;

function isSecretName(key: string): boolean {
  const name = key.toLowerCase();
  if (SECRET_NAMES.has(name)) return true;
  const letters = name.replaceAll(/[-_]/g, '');
  return SECRET_WORDS.some((word) => letters.includes(word));
}

export function isUrlKey(key: string): boolean {
  return key.toLowerCase().endsWith('url');
}

/** The same for configuration and log lines, where addresses have further key names. */
export function isAddressKey(key: string): boolean {
  return ADDRESS_KEY.test(key);
}

const ADDRESS_KEY = /(url|uri|dsn|endpoint|webhook)$/i;

/** An address under such a key is itself a secret. */
const WEBHOOK_KEY = /webhook([_-]?(url|uri|endpoint))?$/i;

function redactAddress(key: string, value: string): string {
  if (!isAddressKey(key)) return value;
  return WEBHOOK_KEY.test(key) ? redactSecretUrl(value) : redactUrl(value);
}

/**
 * An address without user info, query and fragment. Everything up to the last `@` counts as user info, also where
 * a strict parser would stop earlier: a password with an unescaped `/` must not come through.
 */
export function redactUrl(address: string): string {
  const schemeEnd = address.indexOf('://');
  const scheme = schemeEnd < 0 ? '' : address.slice(0, schemeEnd + 3);
  let rest = address.slice(scheme.length);
  const userInfoEnd = rest.lastIndexOf('@');
  if (userInfoEnd >= 0) rest = REDACTED + rest.slice(userInfoEnd);
  const queryStart = rest.search(/[?#]/);
  if (queryStart >= 0) rest = `${rest.slice(0, queryStart + 1)}${REDACTED}`;
  return scheme + rest;
}

/**
 * Of an address that is itself a secret, only the origin. Where that is ambiguous, as after a password with an
 * unescaped `/`, nothing is left.
 */
export function redactSecretUrl(address: string): string {
  const { scheme = '', userInfo, host = '', rest = '' } = SECRET_URL.exec(address)?.groups ?? {};
  if (host === '' || rest.includes('@')) return REDACTED;
  return `${scheme}${userInfo === undefined ? '' : `${REDACTED}@`}${host}${rest === '' ? '' : `/${REDACTED}`}`;
}

const SECRET_URL = /^(?<scheme>[a-z][a-z\d+.-]*:\/\/)(?:(?<userInfo>[^/?#\\@]*)@)?(?<host>[^/?#\\@]+)(?<rest>.*)$/is;

/** `above` holds the containers on the way down: it detects cycles and limits the depth. */
function redactBelow(key: string, value: unknown, above: Set<object>): unknown {
  if (value === null || value === undefined) return value;
  if (isSecretKey(key)) return REDACTED;
  if (typeof value === 'string') return redactAddress(key, value);
  if (typeof value !== 'object' || !isContainer(value)) return value;
  if (above.has(value)) return '[circular]';
  if (above.size >= JSON_DEPTH_MAX) return '[too deep]';
  above.add(value);
  const copy = Array.isArray(value)
    ? value.map((item) => redactBelow(key, item, above))
    : redactProperties(value, above);
  above.delete(value);
  return copy;
}

function redactProperties(value: object, above: Set<object>): Record<string, unknown> {
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) copy[key] = redactBelow(key, item, above);
  return copy;
}

/** Numbers that are kept as they were written are objects too. */
function isContainer(value: object): boolean {
  if (isExactNumber(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
