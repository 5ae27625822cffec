// What pages of other origins may do with this port (X13). Without configuration no header is sent, and browsers
// refuse.

import type { HeaderLines } from '../../../transport/http.ts';
import type { CorsConfig } from '../config.ts';

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
