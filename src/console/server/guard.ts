// Who may ask the console server for what: the bridge's rule for Host and Origin (decisions 42), the token where one is
// needed, and nothing that changes anything where it was started with `--read-only` (APP-4, APP-5).

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TOKEN_SUBPROTOCOL_PREFIX } from '../../console-api/console-server.ts';
import type { ApiError } from '../../console-api/envelope.ts';
import { isLoopbackHost, originOffence } from '../../core/origin.ts';
import type { ConsoleOptions } from './options.ts';

export interface Offence {
  readonly status: number;
  readonly error: ApiError;
}

export class Guard {
  readonly #options: ConsoleOptions;

  constructor(options: ConsoleOptions) {
    this.#options = options;
  }

  /** On loopback whoever is there has the engine anyway; elsewhere the token is asked for. */
  get needsToken(): boolean {
    return this.#options.token !== undefined && !isLoopbackHost(this.#options.host);
  }

  /** Of any request, for pages too. */
  placeOffence({ headers }: IncomingMessage): Offence | undefined {
    const text = originOffence(
      { host: headers.host, origin: headers.origin },
      { boundHost: this.#options.host, allowedHosts: [], allowedOrigins: [], servesOwnPages: true },
    );
    return text === undefined ? undefined : { status: 403, error: { code: 'FORBIDDEN', message: text } };
  }

  tokenOffence({ headers }: IncomingMessage): Offence | undefined {
    if (!this.needsToken) return undefined;
    const header = headers.authorization ?? '';
    const given = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : tokenInOffer(headers);
    return this.isToken(given) ? undefined : NEEDS_TOKEN;
  }

  isToken(given: string | undefined): boolean {
    const { token } = this.#options;
    return token !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(token));
  }

  /** Reads that are sent as POST, because what they ask for is long, stay allowed. */
  readOnlyOffence({ method = 'GET' }: IncomingMessage, path: string): Offence | undefined {
    if (!this.#options.isReadOnly || method === 'GET' || method === 'HEAD') return undefined;
    return method === 'POST' && READS.has(path) ? undefined : READ_ONLY;
  }
}

const READS: ReadonlySet<string> = new Set(['/api/traces/search', '/api/logs/search', '/api/logs/histogram']);

export const NEEDS_TOKEN: Offence = {
  status: 401,
  error: { code: 'UNAUTHORIZED', message: 'This console needs its token: Authorization: Bearer <token>' },
};

const READ_ONLY: Offence = {
  status: 403,
  error: { code: 'FORBIDDEN', message: 'This console was started with --read-only: nothing can be changed here' },
};

/** A browser cannot send a header with a WebSocket: there it offers the token as a name. */
function tokenInOffer(headers: IncomingMessage['headers']): string | undefined {
  const offers = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const offer = offers.find((name) => name.startsWith(TOKEN_SUBPROTOCOL_PREFIX));
  return offer && Buffer.from(offer.slice(TOKEN_SUBPROTOCOL_PREFIX.length), 'base64url').toString('utf8');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
