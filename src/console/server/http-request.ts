// One HTTP request to the engine's HTTP port for the request builder of the Triggers page (TRG-3). It takes the path of
// a client's request, with routing, middleware and conditions. The answer is reported as JSON and never served.
//
// The browser chooses the path, never the host: every request goes to the address that this server was started with, no
// redirect is followed, and requests below /_console have to use /api, with its own rules.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { HTTP_RESPONSE_BYTES_MAX, type HttpRequest, type HttpResponse } from '../api/console-server.ts';
import type { ErrorEnvelope } from '../api/envelope.ts';
import type { EngineAddress } from './engine-address.ts';
import { securityHeaders } from './pages.ts';

const REQUEST_BYTES_MAX = 8 * 1_024 * 1_024;
/** Headers that belong to a connection, not to a request. */
const OWN_HEADERS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'upgrade']);
const TIMEOUT_MS = 30_000;
const TIMEOUT_MS_MAX = 60_000;
const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']);

/** Answers in every case. Its caller has checked that the user may make changes. */
export async function sendHttpRequest(
  engine: EngineAddress,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A form of another site can send text, but not JSON.
  if (!/^application\/json\s*(?:;|$)/i.test(incoming.headers['content-type'] ?? '')) {
    const message = 'The body must be sent as Content-Type: application/json';
    answer(response, 415, { error: { code: 'BAD_REQUEST', message } } satisfies ErrorEnvelope);
    return;
  }
  const asked = readRequest(await readBody(incoming));
  if (typeof asked === 'string') {
    answer(response, 400, { error: { code: 'BAD_REQUEST', message: asked } } satisfies ErrorEnvelope);
    return;
  }
  try {
    answer(response, 200, await send(engine, asked, response));
  } catch (error) {
    if (error instanceof TimeIsOver) {
      answer(response, 504, { error: { code: 'TIMEOUT', message: error.message } } satisfies ErrorEnvelope);
      return;
    }
    const reason = error instanceof Error ? error.message : String(error);
    // A header or path that cannot be sent is the client's fault, every other failure is the connection's.
    const isAskers = error instanceof TypeError;
    const message = isAskers ? reason : `The engine does not answer at ${engine.http} (${reason})`;
    const failed: ErrorEnvelope = { error: { code: isAskers ? 'BAD_REQUEST' : 'ENGINE_UNREACHABLE', message } };
    answer(response, isAskers ? 400 : 502, failed);
  }
}

class TimeIsOver extends Error {}

function send(engine: EngineAddress, asked: HttpRequest, response: ServerResponse): Promise<HttpResponse> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = engine.request({ method: asked.method, path: asked.path, headers: headersOf(asked) }, false);
    const timeoutMs = asked.timeout_ms ?? TIMEOUT_MS;
    let stop = (): void => {
      outgoing.destroy(new TimeIsOver(`No answer came within ${timeoutMs} ms`));
    };
    const timer = setTimeout(() => stop(), timeoutMs);
    outgoing.on('close', () => clearTimeout(timer));
    response.on('close', () => outgoing.destroy());
    outgoing.on('error', reject);
    outgoing.on('response', (got) => {
      const kept: Buffer[] = [];
      let bytes = 0;
      // A stream of events has no end: what arrived in time is shown.
      stop = () => {
        const durationMs = performance.now() - startedMs;
        resolve({ ...responseOf(got, Buffer.concat(kept), bytes, durationMs), is_cut: true });
        outgoing.destroy();
      };
      got.on('data', (part: Buffer) => {
        if (bytes < HTTP_RESPONSE_BYTES_MAX) kept.push(part.subarray(0, HTTP_RESPONSE_BYTES_MAX - bytes));
        bytes += part.length;
      });
      got.on('error', reject);
      got.on('end', () => {
        const durationMs = performance.now() - startedMs;
        resolve(responseOf(got, Buffer.concat(kept), bytes, durationMs));
      });
    });
    outgoing.end(asked.body);
  });
}

function headersOf({ headers, body }: HttpRequest): Record<string, string | string[]> {
  const sent: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (OWN_HEADERS.has(key)) continue;
    const before = sent[key];
    sent[key] = before === undefined ? value : [before, value].flat();
  }
  if (body !== undefined) sent['content-length'] = String(Buffer.byteLength(body));
  return sent;
}

function responseOf(got: IncomingMessage, kept: Buffer, bytes: number, durationMs: number): HttpResponse {
  const headers: [string, string][] = [];
  for (let at = 0; at < got.rawHeaders.length; at += 2) {
    headers.push([got.rawHeaders[at] ?? '', got.rawHeaders[at + 1] ?? '']);
  }
  const isCut = bytes > kept.length;
  const text = textOf(kept);
  return {
    status: got.statusCode ?? 0,
    status_text: got.statusMessage ?? '',
    headers,
    body: text ?? '',
    is_text: text !== undefined,
    bytes,
    is_cut: isCut,
    duration_ms: durationMs,
  };
}

/** `undefined`: it is not text. */
function textOf(body: Buffer): string | undefined {
  try {
    // The cut may have split the last character. As a stream, the decoder accepts that.
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}

/** The body as text, or why it is not text. */
async function readBody(incoming: IncomingMessage): Promise<{ text: string } | { offence: string }> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming) {
    bytes += part.length;
    if (bytes > REQUEST_BYTES_MAX) return { offence: `A request from here has at most ${REQUEST_BYTES_MAX} bytes` };
    parts.push(part);
  }
  return { text: Buffer.concat(parts).toString('utf8') };
}

function readRequest(body: { text: string } | { offence: string }): HttpRequest | string {
  if ('offence' in body) return body.offence;
  let value: unknown;
  try {
    value = JSON.parse(body.text);
  } catch {
    return 'The body is not JSON';
  }
  if (typeof value !== 'object' || value === null) return 'The body must be an object with method, path and headers';
  const { method, path, headers, body: text, timeout_ms: timeoutMs } = value as { [K in keyof HttpRequest]?: unknown };
  if (typeof method !== 'string' || !METHODS.has(method)) return `method must be one of ${[...METHODS].join(', ')}`;
  if (typeof path !== 'string' || !path.startsWith('/')) return "path must begin with '/'";
  const isOwn = isEngines(path);
  if (isOwn === undefined) return 'path has a malformed percent escape';
  if (isOwn) return 'Paths below /_console belong to the engine';
  if (!Array.isArray(headers) || !headers.every(isHeader)) return 'headers must be a list of [name, value]';
  if (text !== undefined && typeof text !== 'string') return 'body must be a text';
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) return `timeout_ms must be 1 to ${TIMEOUT_MS_MAX}`;
  return {
    method,
    path,
    headers,
    ...(text !== undefined && { body: text }),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  };
}

function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= TIMEOUT_MS_MAX;
}

/** Whether a path is reserved for the engine, however it is spelled. `undefined`: this cannot be decided. */
function isEngines(path: string): boolean | undefined {
  const [way = ''] = path.split(/[?#]/);
  try {
    return /^[/\\.]*_console(?:[/\\]|$)/.test(decodeURIComponent(way));
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

function answer(response: ServerResponse, status: number, value: HttpResponse | ErrorEnvelope): void {
  if (response.destroyed) return;
  const text = JSON.stringify(value);
  response.writeHead(status, {
    ...Object.fromEntries(securityHeaders(undefined)),
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
