// `/api/*` of the console server is `/_console/v1/*` of the engine: one origin for the browser, so that CORS is not
// needed. Only the headers are read or changed on the way.

import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { bareHost, hostInUrl } from '../../core/access/origin.ts';
import { API_PREFIX, type ErrorEnvelope } from '../api/envelope.ts';
import type { ConsoleOptions } from './options.ts';
import { securityHeaders } from './pages.ts';

export const API_PATH = '/api/';

/** The headers of a request that the engine needs. */
const FORWARDED = ['content-type', 'content-length', 'accept'];
/** The headers of an answer that the browser needs. */
const RETURNED = ['content-type', 'content-length', 'allow', 'retry-after', 'cache-control'];

export class ApiProxy {
  readonly #options: ConsoleOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 });

  constructor(options: ConsoleOptions) {
    this.#options = options;
  }

  /** `url`: path and query, percent escapes as they came. */
  pass(incoming: IncomingMessage, url: string, response: ServerResponse): void {
    const { engineHost, enginePort } = this.#options;
    const outgoing = request({
      host: bareHost(engineHost),
      port: enginePort,
      method: incoming.method,
      path: `${API_PREFIX}/${url.slice(API_PATH.length)}`,
      headers: this.#headersFor(incoming),
      agent: this.#agent,
    });
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

  stop(): void {
    this.#agent.destroy();
  }

  #headersFor(incoming: IncomingMessage): Record<string, string> {
    const { engineHost, enginePort, token, serviceName } = this.#options;
    const headers: Record<string, string> = { host: `${hostInUrl(engineHost)}:${enginePort}` };
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
    const { engineHost, enginePort } = this.#options;
    const address = `http://${hostInUrl(engineHost)}:${enginePort}`;
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
