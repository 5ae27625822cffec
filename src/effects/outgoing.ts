// Requests to addresses that users chose (X16 to X18): HTTP-invoked functions, later webhooks.
//
// The host name is resolved once for each connection, in the step that connects: every address is judged, and only a
// judged one is connected to, under the original name for TLS. Nothing resolves the name again in between, so a name
// server that changes its answer gains nothing (X17). Redirects are answers like any other (X16).

import type { Agent, IncomingMessage } from 'node:http';
import type { Agent as SecureAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import {
  type IpAddress,
  judgeAddresses,
  judgeUrl,
  type OutgoingAllowList,
  type OutgoingTarget,
  readIp,
} from '../core/limits/outgoing-rules.ts';
import type { Clock } from './clock.ts';
import { http, https } from './http-library.ts';

/** All addresses of a host, as text. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** From now to the end of the answer. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Why there is no answer. `refused`: nothing was sent. */
export type OutgoingFailure = 'refused' | 'timeout' | 'unreachable' | 'too_large';

export class OutgoingError extends Error {
  readonly failure: OutgoingFailure;

  constructor(failure: OutgoingFailure, message: string) {
    super(message);
    this.name = 'OutgoingError';
    this.failure = failure;
  }
}

export interface OutgoingClientOptions {
  readonly listed: OutgoingAllowList;
  readonly clock: Clock;
  readonly resolve?: Resolve;
}

interface Agents {
  readonly 'http:': Agent;
  readonly 'https:': SecureAgent;
}

/** Idle connections are closed after this time, before servers usually close them. */
const IDLE_MS_MAX = 4_000;

export class OutgoingClient {
  readonly #options: OutgoingClientOptions;
  #agents: Agents | undefined;

  constructor(options: OutgoingClientOptions) {
    this.#options = options;
  }

  /** Why a URL is always refused, as far as its text shows; undefined when it may be requested. */
  refusal(url: string): string | undefined {
    const judged = judgeUrl(url, this.#options.listed);
    return judged.ok ? undefined : judged.reason;
  }

  /** Rejects with an `OutgoingError`. */
  async send(request: OutgoingRequest): Promise<OutgoingAnswer> {
    const judged = judgeUrl(request.url, this.#options.listed);
    if (!judged.ok) throw new OutgoingError('refused', judged.reason);
    return await this.#exchange(judged.value, request);
  }

  /** Aborts running requests. */
  close(): void {
    for (const agent of Object.values(this.#agents ?? {})) agent.destroy();
  }

  #exchange(target: OutgoingTarget, asked: OutgoingRequest): Promise<OutgoingAnswer> {
    const { url } = target;
    const protocol = url.protocol === 'https:' ? 'https:' : 'http:';
    this.#agents ??= createAgents();
    const agent = this.#agents[protocol];
    return new Promise((resolve, reject) => {
      const request = (protocol === 'https:' ? https() : http()).request(url, {
        method: asked.method,
        headers: { ...asked.headers, 'content-length': String(asked.body.length) },
        agent,
        lookup: this.#judgingLookup(target),
      });
      const cancelTimer = this.#options.clock.after(asked.timeoutMs, () => {
        request.destroy(new OutgoingError('timeout', `no answer within ${asked.timeoutMs} ms`));
      });
      const end = (act: () => void): void => {
        cancelTimer();
        act();
      };
      request.once('error', (error) => end(() => reject(asOutgoingError(error))));
      // Without a listener the library drops the connection and reports nothing more.
      request.once('upgrade', (_response, socket) => {
        socket.destroy();
        end(() => reject(new OutgoingError('unreachable', 'the server switched to another protocol')));
      });
      // However a connection ends, its caller waits no longer. What was reported before counts.
      request.once('close', () =>
        end(() =>
          reject(new OutgoingError('unreachable', 'the server ended the connection before its answer was complete')),
        ),
      );
      request.once('response', (response) => {
        collect(response, asked.answerBytesMax, (body) => {
          end(() => resolve({ status: response.statusCode ?? 0, body }));
        });
        response.once('error', (error) => end(() => reject(asOutgoingError(error))));
      });
      request.end(asked.body);
    });
  }

  /** Replaces the library's resolver: the library connects to the addresses that it returns. */
  #judgingLookup(target: OutgoingTarget): LookupFunction {
    const { listed, resolve = resolveBySystem } = this.#options;
    return (host, options, answer) => {
      resolve(host).then(
        (texts) => {
          const addresses = texts.map(readIp).filter((address): address is IpAddress => address !== undefined);
          const complete = addresses.length === texts.length ? addresses : [];
          const judged = judgeAddresses(target, complete, listed);
          if (!judged.ok) return answer(new OutgoingError('refused', judged.reason), '', 0);
          const found = texts.map((address, index) => ({ address, family: addresses[index]?.version ?? 4 }));
          if (options.all === true) answer(null, found);
          else answer(null, found[0]?.address ?? '', found[0]?.family);
        },
        () => answer(new OutgoingError('unreachable', `its host ${host} has no address`), '', 0),
      );
    };
  }
}

function createAgents(): Agents {
  const settings = { keepAlive: true, timeout: IDLE_MS_MAX };
  return { 'http:': new (http().Agent)(settings), 'https:': new (https().Agent)(settings) };
}

async function resolveBySystem(host: string): Promise<string[]> {
  // It takes 5 ms to load: most engines start and run without it.
  const { lookup } = await import('node:dns/promises');
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** The whole body. The connection ends when the body is too large. */
function collect(response: IncomingMessage, bytesMax: number, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
    else response.destroy(new OutgoingError('too_large', `the answer has more than ${bytesMax} bytes`));
  });
  response.once('end', () => done(Buffer.concat(chunks)));
}

function asOutgoingError(error: unknown): OutgoingError {
  if (error instanceof OutgoingError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'the connection failed';
  return new OutgoingError('unreachable', `the server cannot be reached (${code})`);
}
