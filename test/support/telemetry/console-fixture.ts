// A console server without an engine: the built pages, and answers in the shapes of the contract from records of the
// test. For states that a real engine takes long to reach: 100 000 spans, hostile names, missing modules.

import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { CONSOLE_INFO_PATH, type ConsoleInfo } from '../../../src/console/api/console-server.ts';
import type { LiveRequest } from '../../../src/console/api/live.ts';
import type { LogHistogram, LogRow, LogSearch, SpanRow, TraceRow } from '../../../src/console/api/telemetry.ts';
import type { SpanRecord } from '../../../src/core/telemetry/records/records.ts';
import { waitFor } from '../wait-for.ts';

export interface FixtureData {
  /** Spans of any number of traces. */
  readonly spans: SpanRecord[];
  readonly logs: LogRow[];
  /** Text of the 404 for every call below that path. */
  readonly missing?: { readonly path: string; readonly error: unknown };
}

export interface ConsoleFixture extends AsyncDisposable {
  readonly url: string;
  readonly data: FixtureData;
  /** Sends a batch to every subscriber of a topic. */
  push(topic: string, items: readonly unknown[]): void;
  /** Resolves when a page is subscribed to the topic: what is sent before reaches no page. */
  subscribed(topic: string): Promise<void>;
  /** Reports to every subscriber of a topic that items were left out. */
  gap(topic: string, dropped: number): void;
  /** Bodies of the calls so far, by route: `POST /traces/search`. */
  calls(route: string): unknown[];
}

const ROOT = join(import.meta.dirname, '../../../src/console/dist/web');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const NONCE = 'fixture';
const POLICY =
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${NONCE}'; img-src 'self' data:; ` +
  "connect-src 'self'; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const INFO: ConsoleInfo = {
  version: '0.1.0',
  read_only: false,
  flow_enabled: false,
  token_required: false,
  engine: {
    http_url: 'http://127.0.0.1:3111',
    stream_url: 'ws://127.0.0.1:3112',
    bridge_url: 'ws://127.0.0.1:49134',
    connected: true,
    since: 0,
    error: null,
    hint: 'svc --config svc-config.yaml',
  },
};

export async function startConsoleFixture(data: FixtureData): Promise<ConsoleFixture> {
  const calls: { route: string; body: unknown }[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, data, calls);
  });
  const live = liveSockets();
  const sockets = new WebSocketServer({ server, path: '/api/live' });
  sockets.on('connection', live.take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    data,
    push: live.push,
    subscribed: live.subscribed,
    gap: live.gap,
    calls: (route) => calls.filter((call) => call.route === route).map((call) => call.body),
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Subscriber {
  readonly socket: WebSocket;
  readonly id: number;
  readonly topic: string;
  seq: number;
}

function liveSockets() {
  const subscribers = new Set<Subscriber>();
  const send = (topic: string, part: object): void => {
    for (const subscriber of subscribers) {
      if (subscriber.topic !== topic) continue;
      subscriber.seq += 1;
      subscriber.socket.send(JSON.stringify({ id: subscriber.id, seq: subscriber.seq, ...part }));
    }
  };
  return {
    take(socket: WebSocket): void {
      socket.on('message', (raw) => {
        const request: LiveRequest = JSON.parse(String(raw));
        if (request.op === 'sub') {
          subscribers.add({ socket, id: request.id, topic: request.topic, seq: 0 });
          const subscribed = { topic: request.topic, cursor: null };
          socket.send(JSON.stringify({ id: request.id, seq: 0, subscribed }));
        }
        if (request.op !== 'unsub') return;
        for (const one of subscribers) if (one.socket === socket && one.id === request.id) subscribers.delete(one);
      });
      socket.on('close', () => {
        for (const one of subscribers) if (one.socket === socket) subscribers.delete(one);
      });
    },
    push: (topic: string, items: readonly unknown[]): void => send(topic, { items }),
    gap: (topic: string, dropped: number): void => send(topic, { gap: { dropped } }),
    subscribed: async (wanted: string): Promise<void> => {
      await waitFor(`a page subscribes to ${wanted}`, () => [...subscribers].some(({ topic }) => topic === wanted));
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  data: FixtureData,
  calls: { route: string; body: unknown }[],
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fixture');
  if (url.pathname === CONSOLE_INFO_PATH) return json(response, 200, INFO);
  if (!url.pathname.startsWith('/api/')) return file(response, url.pathname);
  const path = url.pathname.slice('/api'.length);
  const text = await readBody(request);
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  calls.push({ route: `${request.method} ${path}`, body });
  if (data.missing !== undefined && path.startsWith(data.missing.path)) {
    return json(response, 404, { error: data.missing.error });
  }
  const answer = answerOf(`${request.method} ${path}`, url.searchParams, body, data);
  if (answer === undefined) return json(response, 404, { error: { code: 'NOT_FOUND', message: `No ${path}` } });
  return json(response, 200, answer);
}

function answerOf(route: string, query: URLSearchParams, body: unknown, data: FixtureData): unknown {
  if (route === 'POST /traces/search') return page(tracesOf(data.spans, body), body);
  if (route === 'GET /traces/facets') return facetsOf(data.spans);
  if (route === 'POST /logs/search') return page(logsOf(data.logs, body), body);
  if (route === 'POST /logs/histogram') return histogramOf(logsOf(data.logs, body));
  if (route === 'DELETE /traces' || route === 'DELETE /logs') return { success: true };
  const [, traceId, rest] = /^GET \/traces\/([^/]+)(\/.*)?$/.exec(route) ?? [];
  if (traceId === undefined) return undefined;
  const spans = data.spans.filter((span) => span.trace_id === traceId);
  if (rest === '/export') return { resourceSpans: [], format: query.get('format') };
  if (rest?.startsWith('/spans/')) return withChildren(spans).find((span) => rest.endsWith(span.span_id));
  return detailOf(traceId, spans, query.get('parent'));
}

const LEVELS_ABOVE = 20_000;

function detailOf(traceId: string, spans: readonly SpanRecord[], parent: string | null): unknown {
  const rows = withChildren(spans);
  const isLarge = rows.length > LEVELS_ABOVE;
  const shown = !isLarge ? rows : rows.filter((span) => belongs(span, parent));
  return {
    trace_id: traceId,
    status: 'ok',
    spans: shown.map((span) => (isLarge ? { ...span, attributes: [], events: [] } : span)),
    span_count: rows.length,
    condensed: isLarge,
  };
}

/** The first two levels, or what lies directly below a span. */
function belongs(span: SpanRow, parent: string | null): boolean {
  if (parent !== null) return span.parent_span_id === parent;
  return span.parent_span_id === null || span.parent_span_id.startsWith('0000000000000000');
}

function withChildren(spans: readonly SpanRecord[]): SpanRow[] {
  const counts = new Map<string, number>();
  for (const { parent_span_id: parent } of spans)
    if (parent !== null) counts.set(parent, (counts.get(parent) ?? 0) + 1);
  return spans.map((span) => ({ ...span, child_count: counts.get(span.span_id) ?? 0 }));
}

interface TraceQuestion {
  status?: string;
  name?: string;
  service_name?: string;
  min_duration_ms?: number;
  attributes?: [string, string][];
  sort?: string;
  order?: string;
}

export function traceRow(spans: readonly SpanRecord[]): TraceRow | undefined {
  const root = spans.find((span) => span.parent_span_id === null) ?? spans[0];
  if (root === undefined) return undefined;
  const errors = spans.filter((span) => span.status === 'error').length;
  const end = root.pending === true ? root.start_time_unix_nano : root.end_time_unix_nano;
  return {
    trace_id: root.trace_id,
    root_span_id: root.span_id,
    name: root.name,
    service_name: root.service_name,
    status: root.pending === true ? 'pending' : errors > 0 ? 'error' : 'ok',
    start_time_unix_nano: root.start_time_unix_nano,
    duration_ms: (end - root.start_time_unix_nano) / 1e6,
    span_count: spans.length,
    error_count: errors,
    services: [...new Set(spans.map((span) => span.service_name))],
    internal: false,
  };
}

function tracesOf(spans: readonly SpanRecord[], body: unknown): TraceRow[] {
  const question = (body ?? {}) as TraceQuestion;
  const groups = new Map<string, SpanRecord[]>();
  for (const span of spans) groups.set(span.trace_id, [...(groups.get(span.trace_id) ?? []), span]);
  const rows = [...groups.values()]
    .filter((group) =>
      (question.attributes ?? []).every((pair) =>
        group.some((span) => span.attributes.some(([key, value]) => key === pair[0] && value === pair[1])),
      ),
    )
    .flatMap((group) => traceRow(group) ?? [])
    .filter((row) => question.status === undefined || row.status === question.status)
    .filter((row) => row.name.toLowerCase().includes((question.name ?? '').toLowerCase()))
    .filter((row) => row.services.some((service) => service.includes(question.service_name ?? '')))
    .filter((row) => row.duration_ms >= (question.min_duration_ms ?? 0));
  const by = (row: TraceRow): number => (question.sort === 'duration' ? row.duration_ms : row.start_time_unix_nano);
  return rows.sort((a, b) => (question.order === 'asc' ? by(a) - by(b) : by(b) - by(a)));
}

function facetsOf(spans: readonly SpanRecord[]): unknown {
  const keys = new Map<string, Set<string>>();
  for (const span of spans.slice(0, 1_000)) {
    for (const [key, value] of span.attributes) keys.set(key, (keys.get(key) ?? new Set()).add(value));
  }
  return {
    services: [...new Set(spans.map((span) => span.service_name))].map((value) => ({ value, count: 1 })),
    names: [],
    attributes: [...keys].map(([key, values]) => ({ key, values: [...values].map((value) => ({ value, count: 1 })) })),
  };
}

function logsOf(logs: readonly LogRow[], body: unknown): LogRow[] {
  const question = (body ?? {}) as LogSearch;
  const words = (question.q ?? '').toLowerCase();
  const around = question.around;
  const newest = [...logs].sort((a, b) => b.timestamp_unix_nano - a.timestamp_unix_nano);
  if (around !== undefined) {
    const at = newest.findIndex((log) => log.id === around.id);
    return newest.slice(Math.max(0, at - around.after), at + around.before + 1);
  }
  const found = newest
    .filter((log) => question.trace_id === undefined || log.trace_id === question.trace_id)
    .filter((log) => (question.severities ?? [log.severity_text]).includes(log.severity_text))
    .filter((log) => log.service_name.includes(question.service_name ?? ''))
    .filter((log) => log.timestamp_unix_nano / 1e6 >= (question.start_time ?? 0))
    .filter((log) => log.timestamp_unix_nano / 1e6 <= (question.end_time ?? Number.MAX_VALUE))
    .filter((log) => log.body.toLowerCase().includes(words));
  return question.order === 'asc' ? found.reverse() : found;
}

const BUCKETS = 60;
const WORDS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

function histogramOf(logs: readonly LogRow[]): LogHistogram {
  const times = logs.map((log) => log.timestamp_unix_nano / 1e6);
  const start = times.reduce((min, at) => Math.min(min, at), times[0] ?? 0);
  const end = times.reduce((max, at) => Math.max(max, at), start);
  const bucketMs = Math.max(1, (end - start + 1) / BUCKETS);
  const buckets = Array.from({ length: BUCKETS }, (_, at) => ({
    ...{ start: start + at * bucketMs, trace: 0, debug: 0, info: 0, warn: 0, error: 0 },
  }));
  const services = new Map<string, number>();
  for (const log of logs) {
    const bucket = buckets[Math.floor((log.timestamp_unix_nano / 1e6 - start) / bucketMs)];
    if (bucket !== undefined) bucket[WORDS[log.severity_text]] += 1;
    services.set(log.service_name, (services.get(log.service_name) ?? 0) + 1);
  }
  return {
    start_time: start,
    end_time: end,
    bucket_ms: bucketMs,
    buckets,
    services: [...services].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count),
  };
}

function page<T>(items: readonly T[], body: unknown): unknown {
  const { limit = 100, cursor = '0' } = (body ?? {}) as { limit?: number; cursor?: string };
  const from = Number(cursor);
  const next = from + limit < items.length ? String(from + limit) : null;
  return { items: items.slice(from, from + limit), next_cursor: next, total: items.length };
}

async function file(response: ServerResponse, path: string): Promise<void> {
  const wanted = normalize(path).replace(/^\/+/, '');
  const name = extname(wanted) === '' ? 'index.html' : wanted;
  try {
    const content = await readFile(join(ROOT, name));
    response.setHeader('content-type', TYPES[extname(name)] ?? 'application/octet-stream');
    response.setHeader('content-security-policy', POLICY);
    response.end(name === 'index.html' ? content.toString().replaceAll('__SVC_NONCE__', NONCE) : content);
  } catch {
    response.writeHead(404).end();
  }
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
