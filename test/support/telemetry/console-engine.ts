// An engine with everything that the console shows, and a client that checks every answer against the contract.

import { WebSocket } from 'ws';
import type { ErrorEnvelope } from '../../../src/console/api/envelope.ts';
import type { LiveFrame, LiveItems, LiveRequest } from '../../../src/console/api/live.ts';
import type { AnswerOf, RouteName } from '../../../src/console/api/routes.ts';
import { answerChecks, isErrorEnvelope, isLiveFrame, itemChecks } from '../../../src/generated/console-contract.ts';
import { ask, type HttpAsk, type HttpReply } from '../clients/http-engine.ts';
import { startTestEngine, type TestEngine } from '../engine/test-engine.ts';
import { waitFor } from '../wait-for.ts';

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';

export interface ConsoleEngine extends TestEngine {
  readonly httpPort: number;
  readonly streamPort: number;
}

export interface ConsoleEngineOptions {
  /** More lines at the top of the file. */
  readonly top?: string;
  /** More queues, after a comma. */
  readonly queues?: string;
  /** Lines of more modules. */
  readonly modules?: readonly string[];
  readonly httpPort?: number;
  readonly port?: number;
}

export async function startConsoleEngine(options: ConsoleEngineOptions = {}): Promise<ConsoleEngine> {
  const { top = '', queues = '', modules = [], httpPort = 0, port = 0 } = options;
  const yaml = [
    'drain_timeout_ms: 200',
    top,
    'workers:',
    `  - {name: svc-worker-manager, config: {port: ${port}}}`,
    `  - {name: svc-http, config: {port: ${httpPort}}}`,
    `  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, ${IN_MEMORY}}}`,
    `  - {name: svc-state, config: {${IN_MEMORY}}}`,
    '  - {name: svc-pubsub}',
    `  - {name: svc-cron, config: {${IN_MEMORY}}}`,
    '  - name: svc-queue',
    '    config:',
    `      queue_configs: {mail: {max_retries: 0, backoff_ms: 0}${queues}}`,
    '      adapter: {name: builtin, config: {store_method: in_memory}}',
    ...modules,
    '',
  ].join('\n');
  const engine = await startTestEngine({ yaml });
  const portOf = (at: number): number => Number(new URL(engine.urls[at] ?? '').port);
  return { ...engine, httpPort: portOf(1), streamPort: portOf(2) };
}

type PathValues = readonly (string | number)[];

export interface ConsoleAsk {
  /** For the `{…}` of the path, in their order. */
  readonly path?: PathValues;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer, held against the contract. Throws what the engine said instead. */
export async function consoleCall<R extends keyof typeof answerChecks>(
  engine: Pick<ConsoleEngine, 'httpPort'>,
  route: R,
  asked: ConsoleAsk = {},
): Promise<AnswerOf<R>> {
  const reply = await consoleReply(engine, route, asked);
  const body: unknown = JSON.parse(reply.text);
  if (reply.status !== 200) throw new Error(`${route} was answered ${reply.status}: ${reply.text}`);
  const verdict = answerChecks[route](body);
  if (!verdict.success) throw new Error(`${route} broke the contract: ${JSON.stringify(verdict.errors.slice(0, 5))}`);
  // Just checked against that very type; a table of checks loses which is which.
  return verdict.data as AnswerOf<R>;
}

/** An error, held against its envelope. */
export async function consoleError(
  engine: Pick<ConsoleEngine, 'httpPort'>,
  route: RouteName,
  asked: ConsoleAsk = {},
): Promise<ErrorEnvelope['error'] & { readonly status: number }> {
  const { status, text } = await consoleReply(engine, route, asked);
  const body: unknown = JSON.parse(text);
  if (!isErrorEnvelope(body)) throw new Error(`${route} was answered ${status} without an error: ${text}`);
  return { ...body.error, status };
}

export function consoleReply(
  engine: Pick<ConsoleEngine, 'httpPort'>,
  route: RouteName,
  { path = [], query = {}, body, headers = {} }: ConsoleAsk = {},
): Promise<HttpReply> {
  const [method = '', pattern = ''] = route.split(' ');
  const values = [...path];
  const filled = pattern.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(values.shift())));
  const params = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const options: HttpAsk = {
    method,
    headers: { ...headers, ...(text !== undefined && { 'content-type': 'application/json' }) },
    ...(text !== undefined && { body: text }),
  };
  return ask(engine, `/_console/v1${filled}${params.size === 0 ? '' : `?${params}`}`, options);
}

/** A live socket that checks every frame and item. */
export class LiveClient implements AsyncDisposable {
  readonly frames: LiveFrame[] = [];
  readonly socket: WebSocket;
  closeCode: number | undefined;
  readonly #topics = new Map<number, string>();
  readonly #offences: string[] = [];
  #nextId = 1;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(url, { headers });
    this.socket.on('message', (data) => this.#take(String(data)));
    this.socket.on('close', (code) => {
      this.closeCode = code;
    });
    this.socket.on('error', () => {});
  }

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<LiveClient> {
    const client = new LiveClient(url, headers);
    await waitFor('the live socket opens', () => client.socket.readyState !== WebSocket.CONNECTING);
    return client;
  }

  send(request: LiveRequest): void {
    this.socket.send(JSON.stringify(request));
  }

  /** Resolves when it is subscribed. */
  async subscribe(topic: string, more: Partial<Extract<LiveRequest, { op: 'sub' }>> = {}): Promise<number> {
    const id = this.#nextId++;
    this.#topics.set(id, topic);
    this.send({ op: 'sub', id, topic, ...more });
    await waitFor(`an answer to the subscription of ${topic}`, () => this.framesOf(id).length > 0);
    return id;
  }

  framesOf(id: number): LiveFrame[] {
    return this.frames.filter((frame) => frame.id === id);
  }

  itemsOf(id: number): unknown[] {
    if (this.#offences.length > 0) throw new Error(this.#offences.join('\n'));
    return this.framesOf(id).flatMap((frame) => ('items' in frame ? frame.items : []));
  }

  async item(id: number, what: string, is: (item: Record<string, unknown>) => boolean) {
    const found = (): Record<string, unknown> | undefined =>
      this.itemsOf(id)
        .filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
        .find(is);
    await waitFor(what, () => found() !== undefined);
    return found() ?? {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
  }

  #take(text: string): void {
    const frame: unknown = JSON.parse(text);
    if (!isLiveFrame(frame)) {
      this.#offences.push(`no frame of the live socket: ${text.slice(0, 500)}`);
      return;
    }
    this.frames.push(frame);
    if ('items' in frame) this.#checkItems(frame);
  }

  #checkItems({ id, items }: LiveItems<unknown>): void {
    const [kind = ''] = (this.#topics.get(id) ?? '').split(':');
    const check = Object.entries(itemChecks).find(([name]) => name === kind)?.[1];
    for (const item of items) {
      const verdict = check?.(item);
      if (verdict?.success !== true) {
        this.#offences.push(`${kind} brought ${JSON.stringify(item).slice(0, 500)}: ${JSON.stringify(verdict)}`);
      }
    }
  }
}
