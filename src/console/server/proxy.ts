// `/api/*` of the console server is `/_console/v1/*` of the engine: one origin for the browser, so that CORS is not
// needed. Only the headers are read or changed on the way.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_PREFIX, type ErrorEnvelope } from '../api/envelope.ts';
import type { EngineAddress } from './engine-address.ts';
import type { ConsoleOptions } from './options.ts';
import { securityHeaders } from './pages.ts';

export const API_PATH = '/api/';

/** The headers of a request that the engine needs. */
const FORWARDED = ['content-type', 'content-length', 'accept'];
/** The headers of an answer that the browser needs. */
const RETURNED = ['content-type', 'content-length', 'allow', 'retry-after', 'cache-control'];

export class ApiProxy {
  readonly #options: ConsoleOptions;
  readonly #engine: EngineAddress;

  constructor(options: ConsoleOptions, engine: EngineAddress) {
    this.#options = options;
    this.#engine = engine;
  }

  /** `url`: path and query, percent escapes as they came. */
  pass(incoming: IncomingMessage, url: string, response: ServerResponse): void {
    const path = `${API_PREFIX}/${url.slice(API_PATH.length)}`;
    const outgoing = this.#engine.request({ method: incoming.method, path, headers: this.#headersFor(incoming) }, true);
    outgoing.on('response', (answer) => {
      const headers = Object.entries(answer.headers).filter(
        ([name]) => RETURNED.includes(name) || name.startsWith('x-svc-'),
      );
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries([...securityHeaders(undefined), ...headers]));
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    outgoing.on('error', (error) => this.#failed(error, response));
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  #headersFor(incoming: IncomingMessage): Record<string, string> {
    const { token, serviceName } = this.#options;
    const headers: Record<string, string> = { host: this.#engine.httpHost };
    for (const name of FORWARDED) {
      const value = incoming.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (serviceName !== undefined) headers.baggage = `svc.origin=${encodeURIComponent(serviceName)}`;
    return headers;
  }

  #failed(error: Error, response: ServerResponse): void {
    if (response.destroyed) return;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const address = this.#engine.http;
    const reason = 'code' in error ? String(error.code) : error.message;
    const body: ErrorEnvelope = {
      error: {
        code: 'ENGINE_UNREACHABLE',
        message: `The engine does not answer at ${address} (${reason})`,
        details: { address, hint: START_HINT },
      },
    };
    const text = JSON.stringify(body);
    response.writeHead(502, {
      ...Object.fromEntries(securityHeaders(undefined)),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  }
}

export const START_HINT =
  'Start it with: svc --config svc-config.yaml. Its configuration has to list the module svc-http';
