// The console API on the HTTP port: finds the route of a request, runs it, and writes the answer or the error.
//
// The HTTP module has already decided whether the request is admitted (X3, X4). No user call passes this code.

import { API_PREFIX, type ErrorEnvelope } from '../../console/api/envelope.ts';
import type { RouteName } from '../../console/api/routes.ts';
import { ByteBudget } from '../../core/limits/byte-budget.ts';
import { decodeSegment, parseRoutePattern, type RoutePattern } from '../../core/routing/route-pattern.ts';
import { RouteTrie } from '../../core/routing/route-table.ts';
import { type ByteString, rawJson } from '../../protocol/json/byte-string.ts';
import type { HttpExchange } from '../../transport/http.ts';
import type { PeerSocket, SocketEvents } from '../../transport/socket.ts';
import type { ModuleContext } from '../module.ts';
import type { ReservedPathHandler } from '../reserved-paths.ts';
import type { Route } from './routes/route.ts';
import { ApiFailure, failure, failureOf } from './sources/failure.ts';
import { RawAnswer } from './sources/json-text.ts';

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
  readonly #routes = new RouteTrie<Route>();
  readonly #bodies = new ByteBudget(BODIES_BYTES_MAX);

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
    for (const route of options.routes) {
      const [method, path] = splitName(route.name);
      this.#routes.set(method, patternOf(API_PREFIX + path), route);
      if (route.name === 'POST /invoke') this.#routes.set(method, patternOf(SEED_INVOKE), route);
    }
  }

  connected(socket: PeerSocket, isKnown: boolean): SocketEvents {
    return this.#options.connected(socket, isKnown);
  }

  handle(exchange: HttpExchange): void {
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
    const route = this.#routes.find(method === 'HEAD' ? 'GET' : method, path);
    if (route !== undefined) return { route, params: [...this.#routes.values] };
    if (path.split('/').some((segment) => decodeSegment(segment) === undefined)) {
      return failure('BAD_REQUEST', 'The path has a malformed percent escape');
    }
    const methods = this.#routes.methodsAt(path);
    if (methods.length === 0) return failure('NOT_FOUND', 'There is nothing of that name below /_console/');
    return failure('METHOD_NOT_ALLOWED', `${method} is not for this path; it takes ${methods.join(', ')}`);
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

function splitName(name: RouteName): [method: string, path: string] {
  const [method = '', path = ''] = name.split(' ');
  return [method, path];
}

/** The contract writes `{id}` for a part of the path, and patterns write `:id`. */
function patternOf(path: string): RoutePattern {
  const parsed = parseRoutePattern(path.replace(/\{(\w+)\}/g, ':$1'));
  if (!parsed.ok) throw new Error(`The route ${path} of the console ${parsed.reason}`);
  return parsed.pattern;
}

/** The largest value that a store takes, written in JSON with escapes, plus the text around it. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Reads the whole body. `done` is called once, unless the connection ends before. */
export function readBody(exchange: HttpExchange, budget: ByteBudget, done: (body: Buffer | ApiFailure) => void): void {
  const { bodyBytes } = exchange;
  if (bodyBytes === 0) return done(Buffer.alloc(0));
  if (bodyBytes !== undefined && bodyBytes > BODY_BYTES_MAX) return done(tooLarge());
  let chunks: Buffer[] = [];
  let taken = 0;
  let isOver = false;
  const end = (body: Buffer | ApiFailure | undefined): void => {
    if (isOver) return;
    isOver = true;
    budget.giveBack(taken);
    chunks = [];
    if (body !== undefined) done(body);
  };
  exchange.whenGone(() => end(undefined));
  exchange.readBody({
    chunk(bytes) {
      if (isOver) return;
      if (taken + bytes.length > BODY_BYTES_MAX) return end(tooLarge());
      if (!budget.take(bytes.length)) return end(failure('OVERLOADED', 'Too many large requests at a time'));
      taken += bytes.length;
      chunks.push(Buffer.from(bytes));
    },
    ended: () => end(Buffer.concat(chunks)),
  });
}

function tooLarge(): ApiFailure {
  return failure('PAYLOAD_TOO_LARGE', `The body is over the limit of ${BODY_BYTES_MAX} bytes`);
}
