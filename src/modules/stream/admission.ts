// Admission to the stream port. Everything is checked before the upgrade is answered.
//
// The cheapest checks come first: the requested address, the origin of the page, the limits (`port-admission.ts`), then
// the auth function. Only a well-formed `{context: …}` of that function, including a null context, admits a connection
// (X6). An error, a timeout, a missing function and any other answer refuse it.

import { type OriginRules, originOffence } from '../../core/access/origin.ts';
import type { ConnectionLimits, SharedPort } from '../../core/limits/connection-counts.ts';
import type { Clock } from '../../effects/clock.ts';
import { SUBPROTOCOL_AUTHORIZATION, SUBPROTOCOL_STREAM } from '../../protocol/frames/subprotocols.ts';
import { parseRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { rawMember } from '../../protocol/json/json-member.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Admission, PeerSocket, PendingAdmission, SocketEvents, UpgradeRequest } from '../../transport/socket.ts';
import type { StreamLimits } from '../module.ts';
import { PortAdmission, refusal, STOPPING } from '../port-admission.ts';
import { readTarget, type Target } from './target.ts';

export interface StreamAdmissionOptions {
  readonly router: RouterPort;
  readonly clock: Clock;
  readonly origins: OriginRules;
  readonly trustedProxies: readonly string[];
  readonly authFunction: string | undefined;
  readonly limits: Pick<StreamLimits, keyof ConnectionLimits | 'perAddress' | 'authCalls' | 'askMs'>;
  /** What the port counts together with the other routers. */
  readonly shared: SharedPort | undefined;
  /** A connection was admitted. */
  connected(socket: PeerSocket, client: AdmittedClient): SocketEvents;
}

/** An admitted connection. */
export interface AdmittedClient {
  readonly target: Target;
  readonly address: string;
  readonly isBatched: boolean;
  readonly context: RawJson;
}

export class StreamAdmission {
  readonly #options: StreamAdmissionOptions;
  readonly #port: PortAdmission;
  #handshakes = 0;

  constructor(options: StreamAdmissionOptions) {
    this.#options = options;
    const { clock, router: engine, limits, trustedProxies, shared } = options;
    this.#port = new PortAdmission({ clock, engine, limits, perAddress: limits.perAddress, trustedProxies, shared });
  }

  /** Returns a function that stops it. */
  start(): () => void {
    return this.#port.start();
  }

  admit(request: UpgradeRequest): Admission | PendingAdmission {
    const target = readTarget(request.path, request.query);
    if (target.kind === 'offence') return refusal(target.status, target.text);
    const headers = { host: request.header('host'), origin: request.header('origin') };
    // Servers and tools send no origin, and may use any name for this machine.
    const offence = headers.origin === undefined ? undefined : originOffence(headers, this.#options.origins);
    if (offence !== undefined) return refusal(403, offence);
    const address = this.#port.addressOf(request);
    const refused = this.#port.engineRefusal() ?? this.#busyRefusal() ?? this.#port.enter(address);
    if (refused !== undefined) return refused;
    const client = { target, address, isBatched: request.subprotocols.includes(SUBPROTOCOL_STREAM) };
    const subprotocol = chosenSubprotocol(request.subprotocols);
    if (this.#options.authFunction === undefined)
      return this.#admitted({ ...client, context: NO_CONTEXT }, subprotocol);
    return this.#ask(request, client, this.#options.authFunction, subprotocol);
  }

  /** An admitted connection has ended. */
  left(address: string): void {
    this.#port.leave(address);
  }

  #busyRefusal(): Admission | undefined {
    const isBusy = this.#options.authFunction !== undefined && this.#handshakes >= this.#options.limits.authCalls;
    return isBusy ? refusal(503, 'OVERLOADED: too many connections wait for the auth function') : undefined;
  }

  #ask(
    request: UpgradeRequest,
    client: Omit<AdmittedClient, 'context'>,
    functionId: string,
    subprotocol: string | undefined,
  ): PendingAdmission {
    this.#handshakes += 1;
    const { router, limits } = this.#options;
    const admission = authorise(router, functionId, request, client.address, limits.askMs).then((answer) => {
      this.#handshakes -= 1;
      return this.#judge(answer, client, subprotocol);
    });
    return this.#port.pending(client.address, admission);
  }

  #judge(answer: AuthVerdict, client: Omit<AdmittedClient, 'context'>, subprotocol: string | undefined): Admission {
    // The reason is for the log of the engine, not for untrusted clients.
    if (!answer.ok) {
      this.#options.router.count('streams.auth_refused', answer.reason);
      return refusal(401, 'UNAUTHORIZED');
    }
    if (this.#options.router.isDraining) return STOPPING;
    return this.#admitted({ ...client, context: answer.context }, subprotocol);
  }

  #admitted(client: AdmittedClient, subprotocol: string | undefined): Admission {
    return { ok: true, subprotocol, connected: (socket) => this.#options.connected(socket, client) };
  }
}

/** The first known one, and never the token that follows it. */
function chosenSubprotocol(offered: readonly string[]): string | undefined {
  return [SUBPROTOCOL_STREAM, SUBPROTOCOL_AUTHORIZATION].find((name) => offered.includes(name));
}

/** Input of the auth function. */
interface StreamAuthInput {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query_params: Readonly<Record<string, readonly string[]>>;
  readonly addr: string;
}

type AuthVerdict =
  /** The context of the connection, as JSON. */
  { readonly ok: true; readonly context: RawJson } | { readonly ok: false; readonly reason: string };

/** Calls the auth function. Reads the request at once, and answers later. Never rejects. */
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
const NO_CONTEXT: RawJson = RAW_NULL;

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
