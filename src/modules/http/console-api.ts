// The paths below `/_console/`: for the console and for tools (X3, X4). Routes of workers have the same rules (T10).

import { fetchSiteOffence, type OriginRules, originOffence } from '../../core/access/origin.ts';
import { equalSecrets } from '../../effects/random.ts';
import { textToByteString } from '../../protocol/json/byte-string.ts';
import type { HttpExchange } from '../../transport/http.ts';
import type { Admission } from '../../transport/socket.ts';
import type { ModuleContext } from '../module.ts';
import type { SocketRequest } from '../passed-http.ts';
import type { HttpConfig } from './config.ts';
import { isBelowApi, isSeedInvoke } from './console-paths.ts';
import { openApiDocument } from './openapi.ts';
import { type ErrorAnswer, errorAnswer, errorBody, errorHeaders } from './requests/error-answer.ts';
import { headerOf } from './requests/header-lines.ts';
import type { HttpRoutes } from './routes.ts';
import { isLocalClient } from './served-hosts.ts';

const OPENAPI_PATH = '/_console/v1/openapi.json';

export class ConsoleApi {
  readonly #context: ModuleContext;
  readonly #routes: HttpRoutes;
  readonly #rules: OriginRules;

  /** Answers by the route of a worker, if there is one. */
  readonly #answersByRoute: (exchange: HttpExchange) => boolean;

  constructor(
    context: ModuleContext,
    config: HttpConfig,
    routes: HttpRoutes,
    answersByRoute: (exchange: HttpExchange) => boolean,
  ) {
    this.#context = context;
    this.#answersByRoute = answersByRoute;
    this.#routes = routes;
    this.#rules = {
      boundHost: config.host,
      allowedHosts: context.settings.allowedHosts.map((name) => name.toLowerCase()),
      allowedOrigins: ['http://127.0.0.1:3113', 'http://localhost:3113'],
    };
  }

  handle(exchange: HttpExchange): void {
    const offence = this.#offence(exchange);
    if (offence !== undefined) return refuse(exchange, offence);
    if (exchange.path !== OPENAPI_PATH) return this.#passOn(exchange);
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') return refuse(exchange, GET_ONLY);
    const described = this.#context.router.others.describe();
    if (described === undefined) return this.#answerDocument(exchange);
    void described.then(() => this.#answerDocument(exchange));
  }

  #answerDocument(exchange: HttpExchange): void {
    const document = openApiDocument(this.#context.router, this.#context.version, this.#routes.all());
    exchange.answer(200, ['content-type', 'application/json'], textToByteString(JSON.stringify(document)));
  }

  /**
   * The same for Prometheus, which calls the engine by its host name on the network; a token makes up for that. On this
   * machine figures need no token.
   */
  offenceOfReader(exchange: HttpExchange): ErrorAnswer | undefined {
    if (this.hasToken(exchange)) return undefined;
    return this.#offence(exchange, bearerOf(exchange) === '' && isLocalClient(exchange));
  }

  /** Admission to the live socket. A browser cannot send a header with it, so the token may follow later. */
  admit(request: SocketRequest): Admission {
    const { handler } = this.#context.reservedPaths;
    const offence = this.#placeOffence((name) => request.header(name));
    if (offence !== undefined) return { ok: false, status: 403, text: offence };
    if (handler === undefined) return { ok: false, status: 404, text: UNKNOWN.message };
    const headers = [...request.headers()].flat();
    const mayShowLater =
      this.#context.settings.bridgeToken !== undefined && headerOf(headers, 'authorization') === undefined;
    const isKnown = this.#mayEnter({ headers, remoteAddress: request.remoteAddress });
    if (!isKnown && !mayShowLater) return { ok: false, status: 401, text: this.#needsToken };
    return { ok: true, subprotocol: undefined, connected: (socket) => handler.connected(socket, isKnown) };
  }

  #passOn(exchange: HttpExchange): void {
    const isOwn = isBelowApi(exchange.path) || isSeedInvoke(exchange.path);
    if (!isOwn && this.#answersByRoute(exchange)) return;
    const { handler } = this.#context.reservedPaths;
    if (handler === undefined) refuse(exchange, UNKNOWN);
    else handler.handle(exchange);
  }

  #offence(exchange: HttpExchange, mayEnter = this.#mayEnter(exchange)): ErrorAnswer | undefined {
    const { headers } = exchange;
    const offence = this.#placeOffence((name) => headerOf(headers, name));
    if (offence !== undefined) return errorAnswer('FORBIDDEN', offence);
    if (!mayEnter) return errorAnswer('UNAUTHORIZED', this.#needsToken);
    const type = headerOf(headers, 'content-type') ?? '';
    const isJson = /^application\/json\s*(;|$)/i.test(type);
    return exchange.bodyBytes === 0 || isJson ? undefined : ONLY_JSON;
  }

  #placeOffence(header: (name: string) => string | undefined): string | undefined {
    const request = { host: header('host'), origin: header('origin') };
    return originOffence(request, this.#rules) ?? fetchSiteOffence(header);
  }

  /** Where there is a token, it is needed on this machine too: other users of the machine have full power otherwise. */
  #mayEnter(exchange: Pick<HttpExchange, 'headers' | 'remoteAddress'>): boolean {
    return this.#context.settings.bridgeToken === undefined ? isLocalClient(exchange) : this.hasToken(exchange);
  }

  get #needsToken(): string {
    return this.#context.settings.bridgeToken === undefined ? NO_TOKEN : NEEDS_TOKEN;
  }

  hasToken(exchange: Pick<HttpExchange, 'headers'>): boolean {
    const token = this.#context.settings.bridgeToken;
    return token !== undefined && equalSecrets(bearerOf(exchange), token);
  }
}

function bearerOf({ headers }: Pick<HttpExchange, 'headers'>): string {
  const header = headerOf(headers, 'authorization') ?? '';
  return /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : '';
}

const NEEDS_TOKEN = 'This path needs Authorization: Bearer <bridge_token>';
const NO_TOKEN = 'Requests from other machines need a bridge_token in the configuration, and Authorization: Bearer';
const UNKNOWN = errorAnswer('NOT_FOUND', 'There is no such path below /_console/');
const GET_ONLY: ErrorAnswer = {
  ...errorAnswer('METHOD_NOT_ALLOWED', 'This path supports GET and HEAD'),
  headers: ['allow', 'GET, HEAD'],
};
const ONLY_JSON = errorAnswer('UNSUPPORTED_MEDIA_TYPE', 'This path accepts only Content-Type: application/json');

function refuse(exchange: HttpExchange, answer: ErrorAnswer): void {
  exchange.answer(answer.status, errorHeaders(answer), textToByteString(errorBody(answer, undefined)));
}
