// Calls the auth function of a port for every new connection, before the upgrade is answered (X6).

import type { Grant } from '../../core/access/access.ts';
import { parseRawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { UpgradeRequest } from '../../transport/socket.ts';
import { type ReadGrant, readGrant } from './grant.ts';

export interface DoormanOptions {
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

export class Doorman {
  readonly #options: DoormanOptions;
  #waiting = 0;

  constructor(options: DoormanOptions) {
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
  return { headers, query_params: query, ip_address: address };
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
