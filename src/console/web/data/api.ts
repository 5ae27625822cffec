// Calls of the console's server, which passes them on to the engine: one place for token, failure and loss.

import { ApiError, errorOf } from './api-error.ts';
import { heardEngine, lostEngine } from './connection.ts';
import { session, tokenRefused } from './session.ts';

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
