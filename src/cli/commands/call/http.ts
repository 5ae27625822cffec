import { CALL_TIMEOUT_MS_MAX } from '../../../protocol/frames/limits.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import { fetchSecurely } from '../../engine/secure-request.ts';
import { tlsOf } from '../../engine/tls.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, type ExitCode, exitCodeOfError, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable, TLS_FLAGS } from '../../kernel/flags.ts';
import { stripUnsafe, stripUnsafeLines } from '../../text/display-text.ts';
import { isRecord } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import { readPayload } from './payload.ts';
import { CallTrace } from './traced-call.ts';

const FLAGS = {
  'http-url': {
    kind: 'text',
    placeholder: '<address>',
    env: 'SVC_HTTP_URL',
    fallback: 'http://127.0.0.1:3111',
    help: "Address of the engine's HTTP port.",
  },
  ...TLS_FLAGS,
  context: CONNECTION_FLAGS.context,
  payload: {
    kind: 'text',
    placeholder: '<json>',
    help: 'The body as JSON; @file reads a file, - reads stdin.',
  },
  header: { kind: 'texts', placeholder: '<name: value>', help: 'A header of the request; may be repeated.' },
  include: { kind: 'switch', short: 'i', help: 'Print the status and headers of the answer before its body.' },
  timeout: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '30s',
    maxMs: CALL_TIMEOUT_MS_MAX,
    help: 'How long to wait for the answer.',
  },
} as const satisfies FlagTable;

type HttpContext = Context<typeof FLAGS>;

export const http = defineCommand({
  name: 'http',
  summary: 'Send a request to an HTTP trigger.',
  operands: {
    usage: '<METHOD> <path> [key=value ...]',
    min: 2,
    max: Number.POSITIVE_INFINITY,
    help: 'Pairs build the JSON body; for GET, HEAD and DELETE they build the query.',
  },
  details: [
    'The body of the answer goes to stdout unchanged; status, time, request id and trace id go to stderr. With a ' +
      'status of 400 or above the exit code is not 0.',
  ],
  flags: FLAGS,
  formats: ['table', 'json'],
  examples: [
    { line: 'svc http GET /users/42 limit=10', shows: 'Requests /users/42?limit=10.' },
    { line: 'svc http POST /orders sku=a1 qty:=2 -i', shows: 'Sends {"sku":"a1","qty":2}; shows status and headers.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output, terminal } = context;
    const { url, init, headers } = await readRequest(context);
    const trace = headers.has('traceparent') ? undefined : new CallTrace();
    if (trace !== undefined) headers.set('traceparent', trace.traceparent);
    const startedMs = terminal.elapsedMs();
    const response = await send(url, init, context);
    const text = await response.text();
    const took = formatDuration(terminal.elapsedMs() - startedMs);
    output.printDocument(documentOf(response, text), shownAnswer(response, text, flags.include));
    const id = response.headers.get('x-request-id');
    const notes = [`${response.status}`, took, ...(id === null ? [] : [`request=${stripUnsafe(id)}`])];
    // A request without a route has no trace.
    const hasRoute = !NO_ROUTE.has(errorCodeIn(text));
    if (trace !== undefined && hasRoute) notes.push(`trace=${trace.id}`);
    output.note(`${response.ok ? output.paintErr.green('✔') : output.paintErr.red('✘')} ${notes.join('  ')}`);
    if (!hasRoute) output.note('List the routes with: svc triggers list --type http');
    return exitCodeOf(response.status, text);
  },
});

const NO_ROUTE: ReadonlySet<string | undefined> = new Set(['NOT_FOUND', 'METHOD_NOT_ALLOWED']);

interface PreparedRequest {
  readonly url: URL;
  readonly init: RequestInit;
  /** Those of `init`. */
  readonly headers: Headers;
}

async function readRequest({ flags, operands, terminal }: HttpContext): Promise<PreparedRequest> {
  const [word = '', path = '', ...pairs] = operands;
  const method = word.toUpperCase();
  if (!/^[A-Z]+$/.test(method))
    throw usageFailure(`'${word}' is not an HTTP method.`, 'Example: svc http GET /users/42');
  const base = flags['http-url'];
  if (!URL.canParse(base) || !/^https?:/.test(base))
    throw usageFailure(`--http-url is '${base}': expected http://host:port`);
  const url = new URL(path.startsWith('/') ? path : `/${path}`, base);
  const headers = new Headers(flags.header.map(readHeader));
  if (['GET', 'HEAD', 'DELETE'].includes(method) && flags.payload === undefined) {
    addQuery(url, await readPayload(undefined, pairs, terminal));
    return { url, init: { method, headers }, headers };
  }
  if (flags.payload === undefined && pairs.length === 0) return { url, init: { method, headers }, headers };
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  const body = JSON.stringify(await readPayload(flags.payload, pairs, terminal));
  return { url, init: { method, headers, body }, headers };
}

function readHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon > 0) return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  throw usageFailure(`--header is '${line}': expected 'Name: value'.`);
}

function addQuery(url: URL, payload: unknown): void {
  for (const [name, value] of Object.entries(isRecord(payload) ? payload : {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      url.searchParams.append(name, typeof item === 'string' ? item : JSON.stringify(item));
    }
  }
}

async function send(url: URL, init: RequestInit, context: HttpContext): Promise<Response> {
  const timeoutMs = context.flags.timeout;
  const limited = { ...init, signal: AbortSignal.timeout(timeoutMs) };
  const tls = tlsOf(url.href, context);
  try {
    if (tls !== undefined) return await fetchSecurely(url, limited, tls);
    return await fetch(url, { ...limited, redirect: 'manual' });
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      const message = `${url.origin} did not answer within ${formatDuration(timeoutMs)}.`;
      throw new CliFailure({ code: 'TIMEOUT', message, exitCode: EXIT.timedOut });
    }
    if (isSvcError(error)) throw usageFailure(`${error.message}.`);
    const { tlsAdvice } = await import('../../../sdk/internal.ts');
    const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const isCut = tls === undefined && cause instanceof Error && 'code' in cause && CUT.has(String(cause.code));
    const advice = isCut ? 'a port with TLS needs https://' : tlsAdvice(cause, tls !== undefined);
    throw new CliFailure({
      code: 'UNREACHABLE',
      message: `No HTTP server answers at ${url.origin}${advice === undefined ? '' : ` (${advice})`}.`,
      exitCode: EXIT.unreachable,
      hint: 'Start the engine with svc-http in its configuration, or give its address with --http-url or SVC_HTTP_URL.',
    });
  }
}

/** How a port with TLS ends a connection that is not encrypted. */
const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'UND_ERR_SOCKET']);

function documentOf(response: Response, text: string) {
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: parsed(text) };
}

function shownAnswer(response: Response, text: string, includesHead: boolean): string {
  const body = stripUnsafeLines(text);
  if (!includesHead) return body;
  const lines = [...response.headers].map(([name, value]) => `${name}: ${stripUnsafe(value)}`);
  return [`HTTP ${response.status} ${response.statusText}`, ...lines, '', body].join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not every answer is JSON: text is passed on as it is.
    return text;
  }
}

/** From the code of the engine's error if there is one, otherwise from the status. */
function exitCodeOf(status: number, text: string): ExitCode {
  if (status < 400) return EXIT.done;
  const code = errorCodeIn(text);
  if (code !== undefined) return exitCodeOfError(code);
  return status === 404 ? EXIT.notFound : EXIT.failed;
}

function errorCodeIn(text: string): string | undefined {
  const body = parsed(text);
  const error = isRecord(body) && isRecord(body.error) ? body.error : undefined;
  return typeof error?.code === 'string' ? error.code : undefined;
}
