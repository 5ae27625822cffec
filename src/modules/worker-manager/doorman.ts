// Asks the auth function of a port about everyone who wants to connect, before the upgrade is answered (X6).

import type { Grant } from '../../core/access.ts';
import { parseRawJson, rawJson } from '../../protocol/byte-string.ts';
import { Payload } from '../../protocol/payload.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Outcome } from '../../router/reply.ts';
import type { UpgradeRequest } from '../../transport/socket.ts';
import { type ReadGrant, readGrant } from './grant.ts';

export interface DoormanOptions {
  readonly router: RouterPort;
  readonly authFunctionId: string;
  readonly askMsMax: number;
  /** How many may wait for its answer at a time. */
  readonly waitingMax: number;
}

export type Verdict =
  | { readonly ok: true; readonly grant: Grant }
  /** `reason` is for the log: who is refused learns nothing of it. */
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

  /** Never rejects: whatever goes wrong is a no. */
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

/** Header and query names are the peer's own: in maps without a prototype no name can reach one (X19). */
function authInput(request: UpgradeRequest, address: string) {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of request.headers()) headers[name] = value;
  const query: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(request.query)) {
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

/** Only the code: the message may quote the credential that was looked at. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code.slice(0, CODE_CHARS_MAX) : 'without a code';
}

const CODE_CHARS_MAX = 64;
