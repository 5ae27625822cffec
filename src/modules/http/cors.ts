// What pages of other origins may do with this port (X3, X13). Without configuration no header is sent, and browsers
// refuse.

import { isSameHost } from '../../core/access/origin.ts';
import type { HeaderLines } from '../../transport/http.ts';
import type { CorsConfig } from './config.ts';
import { headerOf } from './requests/header-lines.ts';

const PREFLIGHT_SECONDS = '600';
const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

export class CorsRules {
  /** Whether any page may call. */
  readonly isAny: boolean;
  readonly #origins: ReadonlySet<string>;
  readonly #methods: readonly string[];
  readonly #allowsCredentials: boolean;

  constructor({ allowed_origins, allowed_methods, allow_credentials }: CorsConfig) {
    this.isAny = allowed_origins.length === 0 || allowed_origins.includes('*');
    this.#origins = new Set(allowed_origins.map((origin) => origin.toLowerCase()));
    this.#methods = allowed_methods.length === 0 ? ALL_METHODS : allowed_methods.map((method) => method.toUpperCase());
    this.#allowsCredentials = allow_credentials;
  }

  /** Headers for every answer. */
  headers(origin: string | undefined): HeaderLines {
    if (origin === undefined || !this.allows(origin)) return ['vary', 'Origin'];
    const own = ['vary', 'Origin', 'access-control-allow-origin', this.isAny ? '*' : origin];
    return this.#allowsCredentials ? [...own, 'access-control-allow-credentials', 'true'] : own;
  }

  /** Additional headers for the answer to a preflight. Any request header is allowed. */
  preflightHeaders(origin: string, requestedHeaders: string | undefined): HeaderLines {
    if (!this.allows(origin)) return [];
    const lines = [
      'access-control-allow-methods',
      this.#methods.join(', '),
      'access-control-max-age',
      PREFLIGHT_SECONDS,
    ];
    const wanted = requestedHeaders?.split(',').map((name) => name.trim()) ?? [];
    const names = wanted.filter((name) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name));
    return names.length === 0 ? lines : [...lines, 'access-control-allow-headers', names.join(', ')];
  }

  /** Origins are compared as a whole. */
  allows(origin: string): boolean {
    return this.isAny || this.#origins.has(origin.toLowerCase());
  }
}

/**
 * Detects requests made by a page of another site. Browsers send some requests without a preflight: forms, images,
 * simple fetches. Their answers stay hidden from the page, but the handler would have run.
 *
 * The headers that the browser sets are trusted: no page can forge `Sec-Fetch-…` or `Origin`. A link that a person
 * follows is accepted, and so is any client that is not a browser.
 */
export function isOfForeignPage(headers: HeaderLines, cors: CorsRules | undefined): boolean {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site === 'same-origin' || site === 'none') return false;
  const origin = headerOf(headers, 'origin');
  if (origin !== undefined) return !(cors?.allows(origin) || isSameHost(origin, headerOf(headers, 'host') ?? ''));
  // Images and the like send no origin, so it is unknown whether `cors` names it.
  const isOfOtherPage = site === 'cross-site' || site === 'same-site';
  return isOfOtherPage && cors?.isAny !== true && headerOf(headers, 'sec-fetch-mode') !== 'navigate';
}
