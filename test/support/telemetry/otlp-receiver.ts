// A collector for tests: OTLP over gRPC (node:http2) and HTTP (node:http), read with the official protobuf definitions
// of another package than the one that writes.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttp2Server, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** How it answers the next requests. */
export type Behaviour =
  | { readonly kind: 'take' }
  /** Never answers. */
  | { readonly kind: 'hold' }
  /** An HTTP status, or a gRPC status. */
  | { readonly kind: 'refuse'; readonly status: number };

export interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly traceState: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly events: readonly { name: string; timeUnixNano: string; attributes: readonly OtlpAttribute[] }[];
  readonly links: readonly { traceId: string; spanId: string; attributes: readonly OtlpAttribute[] }[];
  readonly status: { readonly code: number; readonly message: string };
  readonly service: string;
  readonly scope: { readonly name: string; readonly version: string };
}

export interface ReceivedLog {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly attributes: readonly OtlpAttribute[];
  readonly traceId: string;
  readonly spanId: string;
  readonly service: string;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly gauge?: { readonly dataPoints: readonly Record<string, unknown>[] };
  readonly sum?: {
    readonly isMonotonic: boolean;
    readonly aggregationTemporality: number;
    readonly dataPoints: readonly Record<string, unknown>[];
  };
  readonly histogram?: { readonly dataPoints: readonly Record<string, unknown>[] };
  readonly service: string;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly logs: ReceivedLog[];
  readonly metrics: ReceivedMetric[];
  /** The resources of all received records, in order. */
  readonly resources: Readonly<Record<string, unknown>>[];
  /** The number of records of each request, refused and delayed ones too. */
  readonly batches: { readonly path: string; readonly records: number }[];
  readonly headers: IncomingHttpHeaders[];
  behave(behaviour: Behaviour): void;
}

export async function startOtlpReceiver(protocol: 'grpc' | 'http/protobuf', port = 0): Promise<OtlpReceiver> {
  const inbox = new Inbox();
  let behaviour: Behaviour = { kind: 'take' };
  const server = protocol === 'grpc' ? grpcServer(inbox, () => behaviour) : httpServer(inbox, () => behaviour);
  server.listen.listen(port, '127.0.0.1');
  await once(server.listen, 'listening');
  const address = server.listen.address() as AddressInfo;
  return Object.assign(inbox, {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    behave: (next: Behaviour) => {
      behaviour = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAll();
      await new Promise((resolve) => server.listen.close(resolve));
    },
  });
}

class Inbox {
  readonly spans: ReceivedSpan[] = [];
  readonly logs: ReceivedLog[] = [];
  readonly metrics: ReceivedMetric[] = [];
  readonly resources: Record<string, unknown>[] = [];
  readonly batches: { path: string; records: number }[] = [];
  readonly headers: IncomingHttpHeaders[] = [];

  take(path: string, headers: IncomingHttpHeaders, body: Uint8Array, isKept: boolean): void {
    const { spans, logs, metrics, resources } = read(path, body);
    this.batches.push({ path, records: spans.length + logs.length + metrics.length });
    this.headers.push(headers);
    if (!isKept) return;
    this.spans.push(...spans);
    this.logs.push(...logs);
    this.metrics.push(...metrics);
    this.resources.push(...resources);
  }
}

interface Listening {
  readonly listen: ReturnType<typeof createServer> | ReturnType<typeof createHttp2Server>;
  closeAll(): void;
}

function grpcServer(inbox: Inbox, behaviour: () => Behaviour): Listening {
  const server = createHttp2Server();
  const sessions = new Set<Http2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', () => {});
    stream.on('end', () => {
      const framed = Buffer.concat(chunks);
      // An exporter that gives up in the middle of a request ends its stream like a whole one.
      if (framed.length < 5 || framed.length < 5 + framed.readUInt32BE(1)) return;
      const isCompressed = framed[0] === 1;
      const message = framed.subarray(5, 5 + framed.readUInt32BE(1));
      const now = behaviour();
      const body = isCompressed ? gunzipSync(message) : message;
      inbox.take(headers[':path'] ?? '', headers, body, now.kind === 'take');
      if (now.kind === 'hold') return;
      const status = now.kind === 'refuse' ? now.status : 0;
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': 'as configured' }));
      // An empty message of the response type: five bytes of framing.
      stream.end(status === 0 ? Buffer.alloc(5) : undefined);
    });
  });
  return {
    listen: server,
    closeAll: () => {
      for (const session of sessions) session.destroy();
    },
  };
}

function httpServer(inbox: Inbox, behaviour: () => Behaviour): Listening {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const now = behaviour();
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      inbox.take(request.url ?? '', request.headers, body, now.kind === 'take');
      if (now.kind === 'hold') return;
      response.writeHead(now.kind === 'refuse' ? now.status : 200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  return { listen: server, closeAll: () => server.closeAllConnections() };
}

interface Decoder {
  decode(bytes: Uint8Array): unknown;
  toObject(message: unknown, options: object): Record<string, unknown>;
}

interface Definitions {
  readonly trace: Decoder;
  readonly metrics: Decoder;
  readonly logs: Decoder;
}

function loadDefinitions(): Definitions {
  const theirs = createRequire(new URL('../../../node_modules/@iii-dev/helpers/', import.meta.url));
  const { collector } = theirs('@opentelemetry/otlp-transformer/build/src/generated/root.js').opentelemetry.proto;
  return {
    trace: collector.trace.v1.ExportTraceServiceRequest,
    metrics: collector.metrics.v1.ExportMetricsServiceRequest,
    logs: collector.logs.v1.ExportLogsServiceRequest,
  };
}

const definitions = loadDefinitions();

/** Longs as text: nanoseconds do not fit into a number. */
const AS_PLAIN = { longs: String, defaults: true, arrays: true, bytes: Array, oneofs: false };

function read(path: string, body: Uint8Array) {
  const spans: ReceivedSpan[] = [];
  const logs: ReceivedLog[] = [];
  const metrics: ReceivedMetric[] = [];
  const resources: Record<string, unknown>[] = [];
  const parts = [
    ['trace', /trace/i, 'resourceSpans', 'scopeSpans', 'spans', spans],
    ['logs', /logs/i, 'resourceLogs', 'scopeLogs', 'logRecords', logs],
    ['metrics', /metrics/i, 'resourceMetrics', 'scopeMetrics', 'metrics', metrics],
  ] as const;
  for (const [kind, pattern, outer, middle, inner, list] of parts) {
    if (!pattern.test(path)) continue;
    const decoder = definitions[kind];
    // biome-ignore lint/suspicious/noExplicitAny: what the generated definitions give back has no types.
    const request: any = decoder.toObject(decoder.decode(body), AS_PLAIN);
    for (const group of request[outer]) {
      const resource = plainAttributes(group.resource?.attributes ?? []);
      resources.push(resource);
      for (const scoped of group[middle]) {
        for (const record of scoped[inner]) {
          list.push({ ...withHexIds(record), service: String(resource['service.name']), scope: scoped.scope });
        }
      }
    }
  }
  return { spans, logs, metrics, resources };
}

/** Ids travel as bytes; people and our records know them as hex. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
function withHexIds(record: any): any {
  const ids = ['traceId', 'spanId', 'parentSpanId'].filter((name) => record[name] !== undefined);
  const links = record.links?.map(withHexIds);
  return {
    ...record,
    ...Object.fromEntries(ids.map((name) => [name, Buffer.from(record[name]).toString('hex')])),
    ...(links !== undefined && { links }),
  };
}

export function plainAttributes(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Object.values(value)[0]]));
}
