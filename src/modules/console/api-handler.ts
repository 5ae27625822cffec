// The console API on the HTTP port: finds the route of a request, runs it, and writes the answer or the error.
//
// The HTTP module has already decided whether the request is admitted (X3, X4). No user call passes this code.

import { API_PREFIX, type ErrorEnvelope } from '../../console-api/envelope.ts';
import { ByteBudget } from '../../core/limits/byte-budget.ts';
import { decodeSegment } from '../../core/routing/route-pattern.ts';
import { type ByteString, rawJson } from '../../protocol/json/byte-string.ts';
import type { HttpExchange } from '../../transport/http.ts';
import type { PeerSocket, SocketEvents } from '../../transport/socket.ts';
import type { ModuleContext } from '../module.ts';
import type { ReservedPathHandler } from '../reserved-paths.ts';
import { ApiFailure, failure, failureOf } from './facts/failure.ts';
import { RawAnswer } from './facts/json-text.ts';
import { readBody } from './routes/body.ts';
import type { Route } from './routes/route.ts';

const PREFIX = `${API_PREFIX}/`;
/** The only route without a version (PD-15). */
const SEED_INVOKE = '/_console/invoke';
const BODIES_BYTES_MAX = 64 * 1024 * 1024;

export interface ApiHandlerOptions {
  readonly context: ModuleContext;
  readonly routes: readonly Route[];
  connected(socket: PeerSocket, isKnown: boolean): SocketEvents;
}

export class ApiHandler implements ReservedPathHandler {
  readonly #options: ApiHandlerOptions;
  readonly #bodies = new ByteBudget(BODIES_BYTES_MAX);

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
  }

  connected(socket: PeerSocket, isKnown: boolean): SocketEvents {
    return this.#options.connected(socket, isKnown);
  }

  take(exchange: HttpExchange): void {
    const found = this.#find(exchange);
    if (found instanceof ApiFailure) return this.#fail(exchange, found);
    const { route, params } = found;
    readBody(exchange, this.#bodies, (body) => {
      if (body instanceof ApiFailure) return this.#fail(exchange, body);
      const { query, headers } = exchange;
      route.handle({ params, query, body, headers }).then(
        (answer) => this.#answer(exchange, answer),
        (error: unknown) => this.#fail(exchange, this.#failureOf(exchange, error)),
      );
    });
  }

  #find({ method, path }: HttpExchange): { route: Route; params: readonly string[] } | ApiFailure {
    const inner = path === SEED_INVOKE ? 'invoke' : path.startsWith(PREFIX) ? path.slice(PREFIX.length) : undefined;
    if (inner === undefined) return failure('NOT_FOUND', 'There is nothing of that name below /_console/');
    const parts = inner.split('/');
    const here = this.#options.routes.filter(({ segments }) => fits(segments, parts));
    const asked = method === 'HEAD' ? 'GET' : method;
    // A route that names a part is tried before one that takes any name there.
    const [route] = here.filter((one) => one.method === asked).sort((a, b) => parameterCount(a) - parameterCount(b));
    if (route === undefined) {
      if (here.length === 0) return failure('NOT_FOUND', 'There is nothing of that name below /_console/');
      const methods = [...new Set(here.map((one) => one.method))].join(', ');
      return failure('METHOD_NOT_ALLOWED', `${method} is not for this path; it takes ${methods}`);
    }
    const names = parts.filter((_, at) => route.segments[at] === undefined).map(decodeSegment);
    const params = names.filter((name) => name !== undefined);
    if (params.length < names.length) return failure('BAD_REQUEST', 'The path has a malformed percent escape');
    return { route, params };
  }

  #answer(exchange: HttpExchange, answer: unknown): void {
    if (answer instanceof RawAnswer) return send(exchange, answer.status, answer.text, answer.headers);
    send(exchange, 200, rawJson(answer));
  }

  #failureOf(exchange: HttpExchange, error: unknown): ApiFailure {
    const known = failureOf(error);
    if (known.status === 500 && known !== error) {
      const text = error instanceof Error ? error.stack : String(error);
      this.#options.context.logger.error('A route of the console failed', { path: exchange.path, error: text });
    }
    return known;
  }

  #fail(exchange: HttpExchange, { status, error, headers }: ApiFailure): void {
    const body: ErrorEnvelope = { error };
    send(exchange, status, rawJson(body), headers);
  }
}

function send(exchange: HttpExchange, status: number, text: ByteString, headers: readonly string[] = []): void {
  exchange.answer(
    status,
    ['content-type', 'application/json', 'cache-control', 'no-store', 'x-content-type-options', 'nosniff', ...headers],
    text,
  );
}

function fits(segments: Route['segments'], parts: readonly string[]): boolean {
  if (segments.length !== parts.length) return false;
  return segments.every((segment, at) => (segment === undefined ? parts[at] !== '' : segment === parts[at]));
}

function parameterCount({ segments }: Route): number {
  return segments.filter((segment) => segment === undefined).length;
}
