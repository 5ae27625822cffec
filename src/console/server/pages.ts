// The built pages. Browsers keep files with a hash in their name for ever. The page itself is written again for each
// answer, with a nonce that cannot be predicted (APP-3).

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Marks the place of the nonce in the built page. */
const NONCE_PLACE = '__SVC_NONCE__';
/** Next to the bundled server, or in a checkout of the engine or its bundle, where they were built. */
const FOLDERS = ['./web/', '../dist/web/', '../../src/console/dist/web/'];

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

export class Pages {
  readonly #folder: string | undefined;

  constructor() {
    this.#folder = placesOfPages().find(isFolderOfPages);
  }

  /** A path that is not a file is a page: the page's own script reads its address (rule 1 of the console). */
  async answer(path: string, isHead: boolean, response: ServerResponse): Promise<void> {
    const file = this.#fileOf(path);
    const bytes = file === undefined ? undefined : await readFile(file).catch(() => undefined);
    if (file === undefined || bytes === undefined || path === '/index.html') {
      if (path.startsWith('/assets/')) return end(response, 404, 'text/plain', 'Not found', isHead);
      return await this.#answerPage(isHead, response);
    }
    const isHashed = path.startsWith('/assets/');
    response.setHeader('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
    for (const [name, value] of securityHeaders(undefined)) response.setHeader(name, value);
    end(response, 200, TYPES[extname(file)] ?? 'application/octet-stream', bytes, isHead);
  }

  /** Read for each request: a build renames its files, and an old page would ask for files that are gone. */
  async #answerPage(isHead: boolean, response: ServerResponse): Promise<void> {
    const nonce = randomBytes(18).toString('base64url');
    const page = this.#folder && (await readFile(join(this.#folder, 'index.html'), 'utf8').catch(() => undefined));
    for (const [name, value] of securityHeaders(nonce)) response.setHeader(name, value);
    response.setHeader('cache-control', 'no-store');
    if (page === undefined) {
      return end(response, 503, 'text/plain', 'The pages of the console are not built: npm run build', isHead);
    }
    end(response, 200, 'text/html; charset=utf-8', page.replaceAll(NONCE_PLACE, nonce), isHead);
  }

  #fileOf(path: string): string | undefined {
    if (this.#folder === undefined) return undefined;
    let plain: string;
    try {
      plain = normalize(decodeURIComponent(path));
    } catch {
      // A malformed escape names no file.
      return undefined;
    }
    return /^\/[\w./-]+\.\w+$/.test(plain) && !plain.includes('..') ? join(this.#folder, plain) : undefined;
  }
}

/** Headers of every answer of the console server. Only the page itself has a nonce. */
export function securityHeaders(nonce: string | undefined): [name: string, value: string][] {
  const style = nonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    style,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return [
    ['content-security-policy', policy.join('; ')],
    ['x-frame-options', 'DENY'],
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
  ];
}

/** Or in the package `svc-console`, which is installed with the engine's. */
function placesOfPages(): string[] {
  const beside = FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  try {
    const manifest = createRequire(import.meta.url).resolve('svc-console/package.json');
    return [...beside, join(manifest, '../dist/web')];
  } catch {
    return beside;
  }
}

function isFolderOfPages(folder: string): boolean {
  return existsSync(join(folder, 'index.html'));
}

function end(response: ServerResponse, status: number, type: string, body: string | Buffer, isHead: boolean): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(isHead ? undefined : body);
}
