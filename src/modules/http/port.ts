// The HTTP port: finds the route of a request and passes it on to `requests/http-request.ts`.

import { ByteBudget } from '../../core/limits/byte-budget.ts';
import { AddressBlocks, clientAddress } from '../../core/limits/client-address.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { UnreadAnswers } from '../../core/limits/unread-answers.ts';
import { decodeSegment } from '../../core/routing/route-pattern.ts';
import { type Route, WITHDRAWN_MS } from '../../core/routing/route-table.ts';
import { routeText } from '../../protocol/http/request-text.ts';
import { textToByteString } from '../../protocol/json/byte-string.ts';
import { RemoteOwner } from '../../router/remote/remote-owner.ts';
import type { HeaderLines, HttpExchange } from '../../transport/http.ts';
import type { PeerSocket, SocketEvents } from '../../transport/socket.ts';
import type { ModuleContext } from '../module.ts';
import type { HttpTaker, SocketRequest } from '../passed-http.ts';
import { LIVE_PATH } from '../reserved-paths.ts';
import type { HttpConfig } from './config.ts';
import { ConsoleApi } from './console-api.ts';
import { isConsolePath } from './console-paths.ts';
import { CorsRules, isOfForeignPage } from './cors.ts';
import { METRICS_PATH, MetricsPage, OWN_PATHS, ownAnswer } from './own-paths.ts';
import { ConcurrencyLimit } from './requests/concurrency-limit.ts';
import { type ErrorAnswer, errorAnswer, errorBody, errorHeaders } from './requests/error-answer.ts';
import { headerOf, linesOf } from './requests/header-lines.ts';
import { type ErrorCause, HttpRequest, type PortContext } from './requests/http-request.ts';
import { OpenRequests } from './requests/open-requests.ts';
import { HttpRoutes } from './routes.ts';
import { ServedHosts } from './served-hosts.ts';
import type { HttpBinding } from './trigger.ts';

export class HttpPort {
  readonly routes: HttpRoutes;
  readonly unread: UnreadAnswers;
  readonly #context: ModuleContext;
  #config: HttpConfig;
  #portContext: PortContext;
  #cors: CorsRules | undefined;
  readonly #trusted: AddressBlocks;
  readonly #hosts: ServedHosts;
  readonly #console: ConsoleApi;
  readonly #metrics: MetricsPage;
  /** Another router of the process, which answers what this one cannot. */
  readonly #first: HttpTaker | undefined;
  readonly #stopTaking: () => void;
  #requestIdHeader: string;

  constructor(context: ModuleContext, config: HttpConfig) {
    const { clock, logger, router, random, settings, processCounts } = context;
    this.#context = context;
    this.#config = config;
    this.#requestIdHeader = config.request_id_header.toLowerCase();
    this.#cors = config.cors && new CorsRules(config.cors);
    this.#trusted = new AddressBlocks(settings.trustedProxies);
    this.#hosts = new ServedHosts(config, settings, this.#trusted);
    this.routes = new HttpRoutes({
      router,
      clock,
      logger,
      ignoresTrailingSlash: config.ignore_trailing_slash,
      ownPaths: OWN_PATHS,
    });
    this.#console = new ConsoleApi(context, config, this.routes, (exchange) => this.#answersByRoute(exchange));
    this.#metrics = new MetricsPage(context);
    this.unread = new UnreadAnswers(settings.http.answerBuffersBytesMax, processCounts.bytesOf('HTTP answers'));
    this.#portContext = {
      config,
      isDropIn: settings.isDropIn,
      router,
      clock,
      random,
      concurrency: new ConcurrencyLimit(
        config.concurrency_request_limit,
        processCounts.of('http requests'),
        processCounts.of('waiting http requests'),
      ),
      restrictedConcurrency: new ConcurrencyLimit(restrictedLimitOf(config)),
      bodyBudget: new ByteBudget(settings.http.bodyBuffersBytesMax, processCounts.bytesOf('HTTP bodies')),
      openRequests: new OpenRequests(router.channels.home ?? random.uuid()),
      globalMiddleware: middlewareOf(config),
      answerError: (exchange, answer, headers, cause) => this.#answerError(exchange, answer, headers, cause),
    };
    router.channels.offerBy(this.#portContext.openRequests.find);
    this.#first = context.passedHttp.first;
    this.#stopTaking = context.passedHttp.offer({
      handle: (exchange) => this.handle(exchange),
      admit: (request) => this.#console.admit(request),
    });
  }

  /** For requests from now on; current ones end as they began. */
  adopt(config: HttpConfig): void {
    this.#config = config;
    this.#requestIdHeader = config.request_id_header.toLowerCase();
    this.#cors = config.cors && new CorsRules(config.cors);
    this.#portContext.concurrency.setLimit(config.concurrency_request_limit);
    this.#portContext.restrictedConcurrency.setLimit(restrictedLimitOf(config));
    this.#portContext = { ...this.#portContext, config, globalMiddleware: middlewareOf(config) };
  }

  /** Enforces time limits that nothing else enforces; runs at least once a second. */
  check(): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#portContext.concurrency.expire(nowMs);
    this.#portContext.restrictedConcurrency.expire(nowMs);
    this.#portContext.openRequests.check(nowMs);
    this.routes.prune();
    this.unread.check();
    this.#reportUnread();
  }

  stop(): void {
    this.#stopTaking();
    this.routes.stop();
    this.#metrics.stop();
  }

  /** The path of the console's live socket, and its admission. */
  get sockets() {
    return {
      path: LIVE_PATH,
      frameBytesMax: LIVE_FRAME_BYTES_MAX,
      bufferedBytesMax: LIVE_BUFFERED_BYTES_MAX,
      admit: (request: SocketRequest) => (this.#first ?? this.#console).admit(request),
      connected: refuseUnadmitted,
    };
  }

  handle(exchange: HttpExchange): void {
    const { path } = exchange;
    if (isConsolePath(path)) return (this.#first ?? this.#console).handle(exchange);
    const requestId = this.#requestIdOf(exchange.headers);
    const origin = this.#cors && headerOf(exchange.headers, 'origin');
    const headers = [this.#requestIdHeader, requestId];
    if (this.#cors !== undefined) headers.push(...this.#cors.headers(origin));
    const hostOffence = this.#hosts.offence(exchange);
    if (hostOffence !== undefined && !(path === METRICS_PATH && this.#console.hasToken(exchange))) {
      return this.#answerError(exchange, errorAnswer('FORBIDDEN', hostOffence), headers);
    }
    const method = this.#preflightMethod(exchange, origin);
    if (method !== undefined) return this.#answerPreflight(exchange, headers, origin ?? '');
    if (isOfForeignPage(exchange.headers, this.#cors)) return this.#answerError(exchange, FOREIGN_PAGE, headers);
    const { pressure } = this.#context.router;
    if (pressure.level >= PRESSURE.shed && !OWN_PATHS.includes(path) && !pressure.admits()) {
      return this.#shed(exchange, headers);
    }
    const route = this.routes.find(exchange.method, path);
    if (this.#first !== undefined && isOfFirst(route)) return this.#first.handle(exchange);
    if (route === undefined) return this.#handleUnrouted(exchange, headers, requestId);
    this.#follow(exchange, route, headers, requestId);
  }

  #follow(exchange: HttpExchange, route: Route<HttpBinding>, headers: HeaderLines, requestId: string): void {
    const target = route.owners.at(-1);
    if (target === undefined) this.#answerWithdrawn(exchange, headers, route.withdrawnMs ?? 0);
    else this.#run(exchange, target, this.routes.values, headers, requestId);
  }

  /** A request below `/_console/` that was admitted. No CORS header is sent there. */
  #answersByRoute(exchange: HttpExchange): boolean {
    const route = this.routes.findOfConsole(exchange.method, exchange.path);
    if (route === undefined) return false;
    const requestId = this.#requestIdOf(exchange.headers);
    this.#follow(exchange, route, [this.#requestIdHeader, requestId], requestId);
    return true;
  }

  #reportUnread(): void {
    const aborted = this.unread.takeAborted();
    if (aborted === 0) return;
    const { router, logger, settings } = this.#context;
    router.count('http.refused', 'unread_answers', aborted);
    logger.warn('closed connections of HTTP clients that do not read their answers', {
      connections: aborted,
      limit: `limits.http.answer_buffers_bytes is ${settings.http.answerBuffersBytesMax}`,
    });
  }

  /** Not logged for each request: under pressure a refusal must be cheap (L4). */
  #shed(exchange: HttpExchange, headers: HeaderLines): void {
    this.#context.router.count('http.refused', 'pressure');
    exchange.answer(PRESSED.status, [...errorHeaders(PRESSED), ...headers], PRESSED_BODY);
  }

  #run(
    exchange: HttpExchange,
    target: HttpBinding,
    values: readonly string[],
    answerHeaders: HeaderLines,
    requestId: string,
  ): void {
    if (!this.#context.router.takesNewWork) return this.#answerError(exchange, DRAINING, answerHeaders);
    const { method, path, query, headers } = exchange;
    const contentType = exchange.bodyBytes === 0 ? undefined : headerOf(headers, 'content-type');
    new HttpRequest(this.#portContext, {
      exchange,
      target,
      head: {
        route: target.route,
        // The table reuses its list.
        values: values.slice(0, target.route.parameters.length),
        method,
        path,
        query,
        headers,
        clientAddress: this.#clientOf(exchange),
        requestId,
        requestIdHeader: this.#requestIdHeader,
      },
      traceparent: this.#traceparentOf(headers),
      hasJson: contentType !== undefined && JSON_TYPE.test(contentType),
      headers: answerHeaders,
      startedMs: this.#context.clock.monotonicMs(),
    }).start();
  }

  /** A request carries no mark of a log trigger: it must not silence the functions it calls. It begins a trace. */
  #traceparentOf(headers: HeaderLines): string | undefined {
    const given = headerOf(headers, 'traceparent');
    if (given === undefined || !TRACEPARENT.test(given)) return undefined;
    const { router } = this.#context;
    if (!router.quietTraces.isMarkedContext(given)) return given;
    router.count('traces.marks_refused', 'http');
    return undefined;
  }

  #clientOf({ remoteAddress, headers }: HttpExchange): string {
    // Most engines trust no proxy: then the headers are not searched.
    const named = this.#trusted.isEmpty ? undefined : linesOf(headers, 'x-forwarded-for').join(', ');
    return clientAddress(remoteAddress, named, this.#trusted);
  }

  #handleUnrouted(exchange: HttpExchange, headers: HeaderLines, requestId: string): void {
    const { method, path } = exchange;
    if (path === METRICS_PATH && (method === 'GET' || method === 'HEAD')) return this.#answerMetrics(exchange, headers);
    const own = ownAnswer(this.#context, method, path);
    if (own !== undefined) {
      exchange.answer(own.status, ['content-type', 'application/json', ...headers], textToByteString(own.body));
      return;
    }
    if (path.split('/').some((part) => decodeSegment(part) === undefined)) {
      return this.#answerError(exchange, MALFORMED_PATH, headers);
    }
    const methods = this.routes.methodsAt(path);
    if (methods.length > 0) {
      const allow = methods.join(', ');
      const answer = errorAnswer('METHOD_NOT_ALLOWED', `${method} is not supported on this path; it supports ${allow}`);
      return this.#answerError(exchange, { ...answer, headers: ['allow', allow] }, headers);
    }
    const { not_found_function: functionId } = this.#config;
    if (functionId === undefined) return this.#answerError(exchange, NO_ROUTE, headers);
    const route = routeText(method, path, []);
    const target = { binding: undefined, functionId, operation: '', middleware: [], route };
    this.#run(exchange, target, [], headers, requestId);
  }

  #answerMetrics(exchange: HttpExchange, headers: HeaderLines): void {
    const offence = this.#console.offenceOfReader(exchange);
    if (offence === undefined) this.#metrics.answer(exchange, headers);
    else this.#answerError(exchange, offence, headers);
  }

  /** A worker that restarts registers its routes again within seconds: until then they are away, not gone (H1). */
  #answerWithdrawn(exchange: HttpExchange, headers: HeaderLines, sinceMs: number): void {
    const isAway = this.#context.clock.monotonicMs() - sinceMs < WITHDRAWN_MS;
    this.#answerError(exchange, isAway ? AWAY : NO_ROUTE, headers);
  }

  /** The method that a page asks for in a preflight. */
  #preflightMethod({ method, headers }: HttpExchange, origin: string | undefined): string | undefined {
    if (method !== 'OPTIONS' || origin === undefined) return undefined;
    return headerOf(headers, 'access-control-request-method');
  }

  #answerPreflight(exchange: HttpExchange, headers: HeaderLines, origin: string): void {
    const wanted = headerOf(exchange.headers, 'access-control-request-headers');
    exchange.answer(204, [...headers, ...(this.#cors?.preflightHeaders(origin, wanted) ?? [])], undefined);
  }

  #answerError(exchange: HttpExchange, answer: ErrorAnswer, headers: HeaderLines, cause?: ErrorCause): void {
    const { random, router, logger } = this.#context;
    const errorId = answer.status >= 500 ? random.token().slice(0, ERROR_ID_CHARS) : undefined;
    router.count('http.refused', String(answer.status));
    if (errorId !== undefined) {
      logger.warn('A request was answered with an error', {
        error_id: errorId,
        method: exchange.method,
        path: exchange.path.slice(0, LOGGED_PATH_CHARS_MAX),
        status: answer.status,
        code: answer.code,
        error: answer.message,
        ...(cause !== undefined && { function_id: cause.functionId }),
        ...(cause?.traceId !== undefined && { trace_id: cause.traceId }),
      });
    }
    exchange.answer(answer.status, [...errorHeaders(answer), ...headers], textToByteString(errorBody(answer, errorId)));
  }

  #requestIdOf(headers: HeaderLines): string {
    const given = headerOf(headers, this.#requestIdHeader);
    return given !== undefined && REQUEST_ID.test(given) ? given : this.#context.random.token();
  }
}

/** Routes of restricted connections have half as many turns of their own: their handlers may never answer. */
function restrictedLimitOf({ concurrency_request_limit: limit }: HttpConfig): number {
  return Math.ceil(limit / 2);
}

/** Function ids in the order in which they are called. */
function middlewareOf({ middleware }: HttpConfig): string[] {
  return [...middleware].sort((a, b) => a.priority - b.priority).map((entry) => entry.function_id);
}

/** The limit of a frame from a page: subscriptions with their filters. */
const LIVE_FRAME_BYTES_MAX = 64 * 1024;
/** The console module closes the connection of a slow page long before. */
const LIVE_BUFFERED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * What only the first router of the process can answer: where it may have a route of a restricted connection or answers
 * itself, and durable triggers, which it keeps.
 */
function isOfFirst(route: Route<HttpBinding> | undefined): boolean {
  if (route === undefined) return true;
  const owner = route.owners.at(-1)?.binding?.owner;
  return owner?.access !== undefined || (owner instanceof RemoteOwner && owner.isDurable);
}

/** Ends a connection that no admission has a handler for. */
function refuseUnadmitted(socket: PeerSocket): SocketEvents {
  socket.terminate();
  return { message: () => {}, heard: () => {}, closed: () => {} };
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const JSON_TYPE = /application\/(json|[\w.+-]*\+json)/i;
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
const ERROR_ID_CHARS = 12;
const LOGGED_PATH_CHARS_MAX = 200;

const NO_ROUTE = errorAnswer('NOT_FOUND', 'There is no route for this path');
const AWAY = errorAnswer('function_not_found', 'The worker of this route is away');
const DRAINING = errorAnswer('SHUTTING_DOWN', 'The engine is shutting down and takes no new requests');
const FOREIGN_PAGE = errorAnswer(
  'FORBIDDEN',
  'Pages of other origins may not use this port; add their origin to cors.allowed_origins',
);
const PRESSED = errorAnswer('OVERLOADED', 'The engine is under too much load; wait and repeat');
const PRESSED_BODY = textToByteString(errorBody(PRESSED, undefined));
const MALFORMED_PATH = errorAnswer('BAD_REQUEST', 'The path has a malformed percent escape');
