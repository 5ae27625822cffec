// The registration of a function that is a URL (wire 3.5), parsed and with its secrets resolved.

import { http } from '../../effects/http-library.ts';
import { validateUrlInvocation } from '../../generated/worker-frames.ts';
import { mismatchText } from '../../protocol/json/expected-text.ts';

export interface UrlInvocation {
  url: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | null;
  timeout_ms?: number | null;
  headers?: Record<string, string> | null;
  auth?:
    | { type: 'hmac'; secret_key: string }
    | { type: 'bearer'; token_key: string }
    | { type: 'api_key'; header: string; value_key: string }
    | null;
}

/** Ready to be called. Contains secrets: never shown, never logged. */
export interface UrlFunction {
  readonly url: string;
  readonly method: string;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Signs each request with it. */
  readonly hmacSecret: string | undefined;
  /** Requests in flight. */
  inFlight: number;
  /** Of these, those that restricted connections cause. */
  restrictedInFlight: number;
}

export type ReadUrlFunction =
  | { readonly ok: true; readonly value: UrlFunction }
  | { readonly ok: false; readonly reason: string };

const TIMEOUT_MS_DEFAULT = 30_000;
const TIMEOUT_MS_MAX = 60_000;

/** They frame and route the message, so only the engine sets them. */
const OWN_HEADERS = new Set(
  'connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
);

/** `env`: the engine's own environment, which holds the secrets. */
export function readUrlFunction(given: unknown, env: Readonly<Record<string, string | undefined>>): ReadUrlFunction {
  const checked = validateUrlInvocation(given);
  if (!checked.success) {
    const [first] = checked.errors;
    if (first === undefined) return refuse('invocation must be an object');
    return refuse(`invocation${first.path.replace('$input', '')} ${mismatchText(first.expected, first.value)}`);
  }
  const { url, method, timeout_ms: timeoutMs, headers, auth } = checked.data;
  if (timeoutMs != null && !(timeoutMs >= 1 && timeoutMs <= TIMEOUT_MS_MAX)) {
    return refuse(`invocation.timeout_ms must be 1 to ${TIMEOUT_MS_MAX}, found ${timeoutMs}`);
  }
  const secrets = readAuth(auth ?? undefined, env);
  if (!secrets.ok) return secrets;
  const all = [...Object.entries(headers ?? {}), ...Object.entries(secrets.headers)];
  for (const [name, value] of all) {
    const offence = headerOffence(name, value);
    if (offence !== undefined) return refuse(offence);
  }
  return {
    ok: true,
    value: {
      url,
      method: method ?? 'POST',
      timeoutMs: timeoutMs ?? TIMEOUT_MS_DEFAULT,
      headers: Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value])),
      hmacSecret: secrets.hmacSecret,
      inFlight: 0,
      restrictedInFlight: 0,
    },
  };
}

type ReadAuth =
  | { readonly ok: true; readonly headers: Record<string, string>; readonly hmacSecret: string | undefined }
  | { readonly ok: false; readonly reason: string };

function readAuth(auth: UrlInvocation['auth'], env: Readonly<Record<string, string | undefined>>): ReadAuth {
  if (auth == null) return { ok: true, headers: {}, hmacSecret: undefined };
  const variable = auth.type === 'hmac' ? auth.secret_key : auth.type === 'bearer' ? auth.token_key : auth.value_key;
  const secret = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (secret === undefined || secret === '') {
    return refuse(`invocation.auth: the engine has no environment variable '${variable.slice(0, 64)}'`);
  }
  if (auth.type === 'hmac') return { ok: true, headers: {}, hmacSecret: secret };
  const headers = auth.type === 'bearer' ? { authorization: `Bearer ${secret}` } : { [auth.header]: secret };
  return { ok: true, headers, hmacSecret: undefined };
}

/** The value may be a secret, so the message does not quote it. */
function headerOffence(name: string, value: string): string | undefined {
  try {
    http().validateHeaderName(name);
    http().validateHeaderValue(name, value);
  } catch {
    return `invocation.headers: '${name.slice(0, 64)}' or its value is not a valid header`;
  }
  return OWN_HEADERS.has(name.toLowerCase()) ? `invocation.headers: '${name}' is set by the engine` : undefined;
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
