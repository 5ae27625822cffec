// What lies below `/_console/`: for the console and for tools, never for routes of workers (X3, X4).

import type { AddressBlocks } from '../../core/address-block.ts';
import { type OriginRules, originOffence } from '../../core/origin.ts';
import { equalSecrets } from '../../effects/random.ts';
import { textToByteString } from '../../protocol/byte-string.ts';
import type { HttpExchange } from '../../transport/http.ts';
import type { ModuleContext } from '../module.ts';
import { isLocalClient } from './client-address.ts';
import type { HttpConfig } from './config.ts';
import { type ErrorAnswer, errorAnswer, errorBody, errorHeaders } from './error-answer.ts';
import { openApiDocument } from './openapi.ts';
import { headerOf } from './request-text.ts';
import type { HttpRoutes } from './routes.ts';

const OPENAPI_PATH = '/_console/v1/openapi.json';

export class ConsoleApi {
  readonly #context: ModuleContext;
  readonly #routes: HttpRoutes;
  readonly #trusted: AddressBlocks;
  readonly #rules: OriginRules;

  constructor(context: ModuleContext, config: HttpConfig, routes: HttpRoutes, trusted: AddressBlocks) {
    this.#context = context;
    this.#routes = routes;
    this.#trusted = trusted;
    this.#rules = {
      boundHost: config.host,
      allowedHosts: context.settings.allowedHosts.map((name) => name.toLowerCase()),
      allowedOrigins: ['http://127.0.0.1:3113', 'http://localhost:3113'],
    };
  }

  take(exchange: HttpExchange): void {
    const offence = this.#offence(exchange);
    if (offence !== undefined) return refuse(exchange, offence);
    if (exchange.path !== OPENAPI_PATH) return refuse(exchange, UNKNOWN);
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') return refuse(exchange, GET_ONLY);
    const document = openApiDocument(this.#context.router, this.#context.version, this.#routes.all());
    exchange.answer(200, ['content-type', 'application/json'], textToByteString(JSON.stringify(document)));
  }

  #offence(exchange: HttpExchange): ErrorAnswer | undefined {
    const { headers } = exchange;
    const request = { host: headerOf(headers, 'host'), origin: headerOf(headers, 'origin') };
    const offence = originOffence(request, this.#rules);
    if (offence !== undefined) return errorAnswer('FORBIDDEN', offence);
    if (!this.#mayEnter(exchange)) {
      return errorAnswer('UNAUTHORIZED', 'From another machine Authorization: Bearer <bridge_token> is needed');
    }
    const type = headerOf(headers, 'content-type') ?? '';
    const isJson = /^application\/json\s*(;|$)/i.test(type);
    return exchange.bodyBytes === 0 || isJson ? undefined : ONLY_JSON;
  }

  #mayEnter(exchange: HttpExchange): boolean {
    const token = this.#context.settings.bridgeToken;
    const header = headerOf(exchange.headers, 'authorization') ?? '';
    const given = /^bearer /i.test(header) ? header.slice('bearer '.length).trim() : '';
    if (token !== undefined && given !== '') return equalSecrets(given, token);
    return isLocalClient(exchange, this.#trusted);
  }
}

const UNKNOWN = errorAnswer('NOT_FOUND', 'There is nothing of that name below /_console/');
const GET_ONLY: ErrorAnswer = {
  ...errorAnswer('METHOD_NOT_ALLOWED', 'This path takes GET and HEAD'),
  headers: ['allow', 'GET, HEAD'],
};
const ONLY_JSON = errorAnswer('UNSUPPORTED_MEDIA_TYPE', 'Only Content-Type: application/json is taken here');

function refuse(exchange: HttpExchange, answer: ErrorAnswer): void {
  exchange.answer(answer.status, errorHeaders(answer), textToByteString(errorBody(answer, undefined)));
}
