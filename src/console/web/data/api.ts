// Calls of the console's server, which passes them on to the engine: one place for token, failure and loss.
// `call('GET /functions/{id}', { parts: { id }, signal })` is typed by the contract. A failure is an `ApiError` with
// everything that a report of it needs (APP-14).

import type { AnswerOf, BodyOf, QueryOf, RouteName } from '../../api/routes.ts';
import { heardEngine, lostEngine } from './connection.ts';
import { session, tokenRefused } from './session.ts';

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly doc_url?: string;
  readonly details?: unknown;
  readonly stacktrace?: string;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly requestText?: string;
  readonly status: number;
  readonly responseText: string;
  readonly traceId?: string;
}

export class ApiError extends Error {
  readonly code: string;
  readonly docUrl: string | undefined;
  readonly details: unknown;
  readonly stacktrace: string | undefined;
  readonly exchange: Exchange;

  constructor(body: ErrorBody, exchange: Exchange) {
    super(body.message);
    this.name = 'ApiError';
    this.code = body.code;
    this.docUrl = body.doc_url;
    this.details = body.details;
    this.stacktrace = body.stacktrace;
    this.exchange = exchange;
  }

  get traceId(): string | undefined {
    return this.exchange.traceId;
  }
}

/** The error that an answer describes. An answer that is not JSON is shown unchanged. */
function errorOf(exchange: Exchange): ApiError {
  return new ApiError(bodyOf(exchange), exchange);
}

function bodyOf({ status, responseText }: Exchange): ErrorBody {
  try {
    const body: unknown = JSON.parse(responseText);
    if (typeof body === 'object' && body !== null && 'error' in body) {
      const { error } = body;
      if (typeof error === 'object' && error !== null) {
        const { code, message, ...rest } = error as Partial<ErrorBody>;
        return { code: code ?? `HTTP_${status}`, message: message ?? `The answer had status ${status}`, ...rest };
      }
    }
  } catch {
    // Handled below.
  }
  const text = responseText.trim();
  return { code: `HTTP_${status}`, message: text === '' ? `The answer had status ${status}` : text.slice(0, 500) };
}

/** The object does not exist, or no longer exists. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.exchange.status === 404 && error.code !== 'MODULE_MISSING';
}

/** The answer of the proxy while it reaches no engine. */
const UNREACHABLE = new Set([502, 503, 504]);
const UNREACHABLE_CODES = new Set(['ENGINE_UNREACHABLE', 'HTTP_502', 'HTTP_503', 'HTTP_504']);

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Already JSON, so that numbers stay as they were typed. */
  readonly text?: string;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  /** The unparsed body: values are shown from it, never from a re-printed parse (JSN-2). */
  readonly text: string;
  readonly headers: Headers;
}

/** `path` begins with the route: `/functions`. Rejects with `ApiError`, or with the signal's reason. */
export async function apiText(path: string, { method = 'GET', text, signal }: ApiRequest = {}): Promise<ApiAnswer> {
  const { token } = session.get();
  const headers: Record<string, string> = {};
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (text !== undefined) headers['content-type'] = 'application/json';
  const address = `/api${path}`;
  let response: Response;
  try {
    response = await fetch(address, {
      method,
      headers,
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    });
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    const message = 'The console server does not answer';
    lostEngine('console', message);
    throw new ApiError(
      { code: 'CONSOLE_UNREACHABLE', message },
      { method, path: address, ...(text !== undefined && { requestText: text }), status: 0, responseText: '' },
    );
  }
  const responseText = await response.text();
  if (response.ok) {
    heardEngine();
    return { status: response.status, text: responseText, headers: response.headers };
  }
  const traceId = response.headers.get('x-svc-trace-id') ?? undefined;
  const failure = errorOf({
    method,
    path: address,
    status: response.status,
    responseText,
    ...(text !== undefined && { requestText: text }),
    ...(traceId !== undefined && { traceId }),
  });
  if (response.status === 401) tokenRefused();
  else if (UNREACHABLE.has(response.status) && UNREACHABLE_CODES.has(failure.code)) {
    lostEngine('engine', failure.message);
  } else heardEngine();
  throw failure;
}

/** For answers whose shape the shared contract gives. The contract tests check that the engine keeps it. */
export async function api<T>(path: string, request?: ApiRequest): Promise<T> {
  const { text } = await apiText(path, request);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export interface CallOptions<R extends RouteName> {
  /** The values of `{id}` and the like, unencoded: they are encoded here. */
  readonly parts?: Readonly<Record<string, string>>;
  readonly query?: Partial<QueryOf<R>>;
  readonly body?: BodyOf<R>;
  /** Used in place of `body`: JSON as the user typed it, with its numbers. */
  readonly text?: string;
  readonly signal?: AbortSignal;
}

export function call<R extends RouteName>(route: R, options: CallOptions<R> = {}): Promise<AnswerOf<R>> {
  const { method, path } = locate(route, options);
  return api<AnswerOf<R>>(path, { method, ...sent(options) });
}

/** The answer as text, for values that are shown as they are stored. */
export function callText<R extends RouteName>(route: R, options: CallOptions<R> = {}): ReturnType<typeof apiText> {
  const { method, path } = locate(route, options);
  return apiText(path, { method, ...sent(options) });
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

function locate<R extends RouteName>(
  route: R,
  { parts = {}, query }: CallOptions<R>,
): { method: Method; path: string } {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(parts[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '' && value !== false) search.set(name, String(value));
  }
  return { method: method as Method, path: search.size === 0 ? path : `${path}?${search}` };
}

function sent<R extends RouteName>({ body, text, signal }: CallOptions<R>): { text?: string; signal?: AbortSignal } {
  const json = text ?? (body === undefined ? undefined : JSON.stringify(body));
  return { ...(json !== undefined && { text: json }), ...(signal && { signal }) };
}
