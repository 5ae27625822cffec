// Calls the auth function of a port for every new connection, before the upgrade is answered (X6).

import { ANONYMOUS, type Grant } from '../../core/access/access.ts';
import { type Pattern, readPattern } from '../../core/access/pattern.ts';
import { anything, fields, flag, listOf, mapOf, optional, text } from '../../core/config-fields/fields.ts';
import { checkValue, isMap } from '../../core/config-fields/fields-check.ts';
import { idOffence } from '../../protocol/frames/limits.ts';
import { parseRawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { UpgradeRequest } from '../../transport/socket.ts';

export interface AuthFunctionOptions {
  readonly router: RouterPort;
  readonly authFunctionId: string;
  readonly askMsMax: number;
  /** The limit of connections that wait for its answer. */
  readonly waitingMax: number;
}

export type Verdict =
  | { readonly ok: true; readonly grant: Grant }
  /** `reason` is for the log: the client does not see it. */
  | { readonly ok: false; readonly reason: string };

export class AuthFunction {
  readonly #options: AuthFunctionOptions;
  #waiting = 0;

  constructor(options: AuthFunctionOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#waiting >= this.#options.waitingMax;
  }

  /** Never rejects: any failure is a refusal. */
  ask(request: UpgradeRequest, address: string): Promise<Verdict> {
    const { router, authFunctionId, askMsMax } = this.#options;
    const payload = Payload.ofText(rawJson(authInput(request, address)));
    this.#waiting++;
    return new Promise((resolve) => {
      const call = { functionId: authFunctionId, payload, depth: 0, timeoutMs: askMsMax, decides: true };
      router.call(call, (outcome) => {
        this.#waiting--;
        resolve(verdictOf(outcome));
      });
    });
  }
}

/** The client chooses header and query names: in maps without a prototype no name can reach one (X19). */
function authInput(request: UpgradeRequest, address: string) {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of request.headers()) headers[name] = value;
  const query: Record<string, string[]> = Object.create(null);
  // A query without a leading `?` whose first name begins with one would lose it.
  for (const [name, value] of new URLSearchParams(`?${request.query}`)) {
    const values = query[name] ?? [];
    query[name] = values;
    values.push(value);
  }
  const { clientCertificate } = request;
  const input = { headers, query_params: query, ip_address: address };
  return clientCertificate === undefined ? input : { ...input, client_certificate: clientCertificate };
}

function verdictOf({ result, error }: Outcome): ReadGrant {
  if (error !== undefined) {
    const text = error.asText();
    return { ok: false, reason: text === undefined ? 'it failed' : `it failed: ${codeOf(parseRawJson(text))}` };
  }
  const text = result?.asText();
  return readGrant(text === undefined ? undefined : parseRawJson(text));
}

/** Only the code: the message may quote the credential. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code.slice(0, CODE_CHARS_MAX) : 'without a code';
}

const CODE_CHARS_MAX = 64;

export type ReadGrant =
  | { readonly ok: true; readonly grant: Grant }
  /** For the log. */
  | { readonly ok: false; readonly reason: string };

const authResult = fields({
  allowed_functions: optional(listOf(text())),
  forbidden_functions: optional(listOf(text())),
  allowed_trigger_types: optional(listOf(text())),
  allow_trigger_types: optional(listOf(text())),
  allow_trigger_type_registration: optional(flag()),
  allow_function_registration: optional(flag()),
  context: optional(anything()),
  function_registration_prefix: optional(text()),
  namespaces: optional(mapOf(listOf(text()))),
});

export function readGrant(answer: unknown): ReadGrant {
  if (!isMap(answer)) return refuse(`it answered with ${nameOf(answer)} instead of an object`);
  // A field that is null counts as absent, and an answer without any field is empty.
  if (Object.values(answer).every((value) => value === null)) return refuse('its answer is empty');
  const checked = checkValue(authResult, answer);
  if (!checked.ok) {
    const [problem] = checked.problems;
    return refuse(`${problem?.path.join('.') ?? 'its answer'}: ${problem?.message ?? 'has the wrong shape'}`);
  }
  const { value } = checked;
  if (value.context != null && !isMap(value.context)) return refuse('context: Must be a map.');
  const prefix = value.function_registration_prefix;
  const offence = prefix === undefined ? undefined : idOffence(prefix);
  if (offence !== undefined) return refuse(`function_registration_prefix: ${offence}`);
  const patterns = readPatterns(value.namespaces?.default ?? []);
  if (typeof patterns === 'string') return refuse(`namespaces.default: ${patterns}`);
  const types = value.allowed_trigger_types ?? value.allow_trigger_types;
  return {
    ok: true,
    grant: {
      allowed: new Set(value.allowed_functions ?? []),
      allowedPatterns: patterns,
      forbidden: new Set(value.forbidden_functions ?? []),
      triggerTypes: types === undefined ? undefined : new Set(types),
      mayRegisterFunctions: value.allow_function_registration ?? ANONYMOUS.mayRegisterFunctions,
      mayRegisterTriggerTypes: value.allow_trigger_type_registration ?? ANONYMOUS.mayRegisterTriggerTypes,
      functionPrefix: prefix,
      context: value.context ?? {},
    },
  };
}

function readPatterns(texts: readonly string[]): readonly Pattern[] | string {
  const patterns: Pattern[] = [];
  for (const one of texts) {
    const read = readPattern(one);
    if (!read.ok) return `The pattern ${read.reason}`;
    patterns.push(read.pattern);
  }
  return patterns;
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
