// Connections and requests inside one process, for the engine of `svc-sdk/testing`: a dial of the SDK finds the
// listener of a module by its port, and messages are passed on in order, at the ends of turns. `MemoryExchange` is a
// request to a route, and its answer.

import { type ByteString, byteStringToText } from '../protocol/json/byte-string.ts';
import type { FakeRequest, FakeResponse } from '../sdk/testing/testing-fake.ts';
import type { SocketEvents as PlatformEvents, PlatformSocket, SocketRequest } from '../sdk/worker/platform.ts';
import type { BodyReader, HeaderLines, HttpBody, HttpExchange } from '../transport/http.ts';
import type { Admission, PeerSocket, SocketEvents, UpgradeRequest } from '../transport/socket.ts';
import type { HttpListenOptions, Listener, ListenOptions, Transport } from '../transport/transport.ts';

const HOST = '127.0.0.1';
const ABNORMAL = 1006;

/** Nothing leaves the process, so nothing is encrypted. */
const prepareTls = () => () => {};

type Later = (task: () => void) => void;

export class MemoryTransport implements Transport {
  readonly name = 'in memory';
  readonly #listening = new Map<number, ListenOptions>();
  readonly #later: Later;
  /** The HTTP port, if there is one. */
  http: HttpListenOptions | undefined;

  constructor(later: Later) {
    this.#later = later;
  }

  async listen(options: ListenOptions): Promise<Listener> {
    this.#listening.set(options.port, options);
    const close = (): void => void this.#listening.delete(options.port);
    return { host: HOST, port: options.port, stopAccepting: close, close, prepareTls };
  }

  async serve(options: HttpListenOptions): Promise<Listener> {
    this.http = options;
    const close = (): void => {
      this.http = undefined;
    };
    return { host: HOST, port: options.port, stopAccepting: close, close, prepareTls };
  }

  /** Replaces the dial of the SDK's platform. */
  dial(request: SocketRequest, events: PlatformEvents): PlatformSocket {
    const pair = new SocketPair(events, this.#later);
    this.#later(() => void this.#connect(request, pair));
    return pair.ofWorker;
  }

  async #connect(request: SocketRequest, pair: SocketPair): Promise<void> {
    const { pathname, search, port, host } = new URL(request.url);
    const listener = this.#listening.get(Number(port));
    if (listener === undefined) return pair.end(ABNORMAL, `nothing listens on ${host} in this process`);
    const headers = new Map(
      Object.entries({ host, ...request.headers }).map(([name, text]) => [name.toLowerCase(), text]),
    );
    const upgrade: UpgradeRequest = {
      path: pathname,
      query: search.slice(1),
      remoteAddress: HOST,
      subprotocols: request.subprotocols,
      header: (name) => headers.get(name),
      list: (name) => headers.get(name),
      headers: () => headers,
    };
    const asked = listener.admit(upgrade);
    const admission: Admission = 'verdict' in asked ? await asked.verdict : asked;
    if (!admission.ok) return pair.end(ABNORMAL, admission.text, admission.status);
    const { subprotocol, connected = listener.connected } = admission;
    pair.accept(subprotocol ?? '', connected(pair.ofEngine, { path: pathname, remoteAddress: HOST, subprotocol }));
  }
}

/** Both ends of one connection. A message of one end reaches the other one in a later turn. */
class SocketPair {
  readonly ofWorker: PlatformSocket & { subprotocol: string };
  readonly ofEngine: PeerSocket;
  readonly #worker: PlatformEvents;
  readonly #later: Later;
  #engine: SocketEvents | undefined;
  #isOpen = true;

  constructor(worker: PlatformEvents, later: Later) {
    this.#worker = worker;
    this.#later = later;
    this.ofWorker = this.#workerEnd();
    this.ofEngine = this.#engineEnd();
  }

  accept(subprotocol: string, engine: SocketEvents): void {
    this.ofWorker.subprotocol = subprotocol;
    this.#engine = engine;
  }

  /** Reported to both ends, once; earlier messages arrive before it. */
  end(code: number, reason: string, httpStatus?: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#later(() => {
      this.#engine?.closed(code);
      this.#worker.onClose({ code, reason, ...(httpStatus !== undefined && { httpStatus }) });
    });
  }

  #workerEnd(): PlatformSocket & { subprotocol: string } {
    const say = (bytes: Uint8Array, isBinary: boolean): void => {
      if (this.#isOpen) this.#later(() => this.#engine?.message(bytes, isBinary));
    };
    return {
      subprotocol: '',
      sendTexts: (texts) => {
        for (const text of texts) say(Buffer.from(text), false);
      },
      sendBytes: (memory, start, end) => {
        say(memory.slice(start, end), true);
        return true;
      },
      ping: () => this.#signOfLife(),
      close: (code, reason) => this.end(code, reason),
      terminate: () => this.end(ABNORMAL, ''),
      bufferedBytes: () => 0,
    };
  }

  #engineEnd(): PeerSocket {
    const say = (message: string | Uint8Array): boolean => {
      if (this.#isOpen) this.#later(() => this.#worker.onMessage(message));
      return true;
    };
    const isOpen = (): boolean => this.#isOpen;
    return {
      get isOpen() {
        return isOpen();
      },
      bufferedBytes: 0,
      sendText: (text) => say(byteStringToText(text)),
      sendPrepared: ({ messages }) => messages.every((bytes) => say(Buffer.from(bytes).toString('utf8'))),
      sendBinary: (bytes) => say(bytes.slice()),
      cork: (write) => write(),
      whenDrained: (drained) => this.#later(drained),
      ping: () => this.#signOfLife(),
      close: (code, reason) => this.end(code, reason),
      terminate: () => this.end(ABNORMAL, ''),
    };
  }

  #signOfLife(): void {
    this.#later(() => {
      this.#engine?.heard();
      this.#worker.onAlive();
    });
  }
}

export class MemoryExchange implements HttpExchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly remoteAddress = '127.0.0.1';
  readonly bodyBytes: number;
  readonly bufferedBytes = 0;
  readonly #body: Buffer;
  readonly #answered: (response: FakeResponse) => void;
  readonly #chunks: Uint8Array[] = [];
  #status = 0;
  #answerHeaders: HeaderLines = [];
  isOpen = true;

  constructor({ method = 'GET', path, headers = {}, body }: FakeRequest, answered: (response: FakeResponse) => void) {
    const { pathname, search } = new URL(path, 'http://127.0.0.1');
    const isText = typeof body === 'string' || body === undefined;
    const given = { host: '127.0.0.1', ...(isText ? {} : { 'content-type': 'application/json' }), ...headers };
    this.method = method;
    this.path = pathname;
    this.query = search.slice(1);
    this.headers = Object.entries(given).flatMap(([name, value]) => [name.toLowerCase(), value]);
    this.#body = Buffer.from(isText ? (body ?? '') : JSON.stringify(body));
    this.bodyBytes = this.#body.length;
    this.#answered = answered;
  }

  readBody(reader: BodyReader): void {
    if (this.#body.length > 0) reader.chunk(this.#body);
    reader.ended();
  }

  pauseBody(): void {}
  stayPaused(): void {}
  resumeBody(): void {}
  whenGone(): void {}

  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void {
    if (!this.isOpen) return;
    this.begin(status, headers);
    if (body !== undefined) this.write(typeof body === 'string' ? bytesOf(body) : body);
    this.end();
  }

  begin(status: number, headers: HeaderLines): void {
    this.#status = status;
    this.#answerHeaders = headers;
  }

  write(bytes: Uint8Array): void {
    this.#chunks.push(bytes.slice());
  }

  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const headers: Record<string, string> = {};
    for (let at = 0; at + 1 < this.#answerHeaders.length; at += 2) {
      headers[this.#answerHeaders[at] ?? ''] = this.#answerHeaders[at + 1] ?? '';
    }
    this.#answered({ status: this.#status, headers, body: Buffer.concat(this.#chunks).toString('utf8') });
  }

  abort(): void {
    this.end();
  }
}

function bytesOf(body: ByteString): Uint8Array {
  return Buffer.from(byteStringToText(body));
}
