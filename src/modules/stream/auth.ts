// Calls the auth function to decide whether a connection may be opened (X6). Only a well-formed `{context: …}`,
// including a null context, admits it. An error, a timeout, a missing function and any other answer refuse it.

import { parseRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { rawMember } from '../../protocol/json/json-member.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { UpgradeRequest } from '../../transport/socket.ts';

/** Input of the auth function. */
interface StreamAuthInput {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query_params: Readonly<Record<string, readonly string[]>>;
  readonly addr: string;
}

export type AuthVerdict =
  /** The context of the connection, as JSON. */
  { readonly ok: true; readonly context: RawJson } | { readonly ok: false; readonly reason: string };

/** Reads the request at once, and answers later. Never rejects. */
export function authorise(
  router: RouterPort,
  functionId: string,
  request: UpgradeRequest,
  address: string,
  timeoutMs: number,
): Promise<AuthVerdict> {
  const input: StreamAuthInput = {
    headers: Object.fromEntries(request.headers()),
    path: request.path,
    query_params: queryParameters(request.query),
    addr: address,
  };
  const payload = Payload.ofText(rawJson(input));
  return new Promise((resolve) => {
    const call = { functionId, payload, depth: 0, timeoutMs, decides: true };
    router.call(call, (outcome) => resolve(verdictOf(outcome)));
  });
}

/** The context of connections on a port without an auth function. */
export const NO_CONTEXT: RawJson = RAW_NULL;

function verdictOf({ error, result }: Outcome): AuthVerdict {
  if (error !== undefined) return { ok: false, reason: 'the auth function failed' };
  const text = result?.asText();
  if (text === undefined) return { ok: false, reason: 'the auth function did not answer' };
  const written = rawMember(text, 'context');
  if (written === undefined) {
    return { ok: false, reason: 'the auth function answered something other than {context}' };
  }
  const context = parseRawJson(written);
  if (typeof context !== 'object' || Array.isArray(context)) {
    return { ok: false, reason: 'the auth function gave a context that is neither an object nor null' };
  }
  return { ok: true, context: written };
}

/** Every value of every name; names are chosen by the client. */
export function queryParameters(query: string): Record<string, string[]> {
  const parameters: Record<string, string[]> = Object.create(null);
  // A query without a leading `?` whose first name begins with one would lose it.
  for (const [name, value] of new URLSearchParams(`?${query}`)) {
    const values = parameters[name] ?? [];
    parameters[name] = values;
    // Not a new list for each value: a client that is not admitted yet controls how often a name occurs.
    values.push(value);
  }
  return parameters;
}
