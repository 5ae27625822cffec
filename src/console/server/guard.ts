// Which requests the console server accepts: the bridge's rule for Host and Origin (PD-42), the token where it is
// required, and no change of anything where it was started with `--read-only` (APP-4, APP-5).

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { fetchSiteOffence, originOffence } from '../../core/access/origin.ts';
import { TOKEN_SUBPROTOCOL_PREFIX } from '../api/console-server.ts';
import type { ApiError } from '../api/envelope.ts';
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

  /** On loopback too: the engine has a token, and other users of the machine must not act with this server's. */
  get needsToken(): boolean {
    return this.#options.token !== undefined;
  }

  /** Checked for every request, also for pages. */
  placeOffence({ headers }: IncomingMessage): Offence | undefined {
    const text = originOffence(
      { host: headers.host, origin: headers.origin },
      { boundHost: this.#options.host, allowedHosts: [], allowedOrigins: [], servesOwnPages: true },
    );
    if (text !== undefined) return forbidden(text);
    // A WebSocket is open to every page that may come: one of another port of this machine is not the console's.
    const isOther = headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host ?? '');
    return isOther
      ? forbidden(`Pages of ${headers.origin?.slice(0, ORIGIN_CHARS_MAX)} may not use this console`)
      : undefined;
  }

  /** Checked for everything but pages: a link on any page may open the console, but nothing may be read through it. */
  dataOffence({ headers }: IncomingMessage): Offence | undefined {
    const text = fetchSiteOffence((name) => headers[name]?.toString());
    return text === undefined ? undefined : forbidden(text);
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

  /** Reads that are sent as POST because their parameters are long stay allowed. */
  readOnlyOffence({ method = 'GET' }: IncomingMessage, path: string): Offence | undefined {
    if (!this.#options.isReadOnly || method === 'GET' || method === 'HEAD') return undefined;
    return method === 'POST' && READS.has(path) ? undefined : READ_ONLY;
  }
}

const READS: ReadonlySet<string> = new Set(['/api/traces/search', '/api/logs/search', '/api/logs/histogram']);

const ORIGIN_CHARS_MAX = 100;

/** Whichever scheme: a proxy in front may end TLS. */
function isOwnOrigin(origin: string, host: string): boolean {
  const { protocol, host: named } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === named;
}

function forbidden(message: string): Offence {
  return { status: 403, error: { code: 'FORBIDDEN', message } };
}

export const NEEDS_TOKEN: Offence = {
  status: 401,
  error: { code: 'UNAUTHORIZED', message: 'This console needs its token: Authorization: Bearer <token>' },
};

const READ_ONLY: Offence = {
  status: 403,
  error: { code: 'FORBIDDEN', message: 'This console was started with --read-only: nothing can be changed here' },
};

/** A browser cannot send a header with a WebSocket. It offers the token as a subprotocol. */
function tokenInOffer(headers: IncomingMessage['headers']): string | undefined {
  const offers = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const offer = offers.find((name) => name.startsWith(TOKEN_SUBPROTOCOL_PREFIX));
  return offer && Buffer.from(offer.slice(TOKEN_SUBPROTOCOL_PREFIX.length), 'base64url').toString('utf8');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
