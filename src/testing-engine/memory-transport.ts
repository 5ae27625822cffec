// Connections inside one process, for the engine of `svc-sdk/testing`: a dial of the SDK finds the listener of a module
// by its port, and messages are passed on in order, at the ends of turns.

import { byteStringToText } from '../protocol/json/byte-string.ts';
import type { SocketEvents as PlatformEvents, PlatformSocket, SocketRequest } from '../sdk/worker/platform.ts';
import type { HttpListenOptions } from '../transport/http.ts';
import type {
  Admission,
  Listener,
  ListenOptions,
  PeerSocket,
  SocketEvents,
  Transport,
  UpgradeRequest,
} from '../transport/socket.ts';

const HOST = '127.0.0.1';
const ABNORMAL = 1006;

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
    return { host: HOST, port: options.port, stopAccepting: close, close };
  }

  async serve(options: HttpListenOptions): Promise<Listener> {
    this.http = options;
    const close = (): void => {
      this.http = undefined;
    };
    return { host: HOST, port: options.port, stopAccepting: close, close };
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
      whenDrained: (told) => this.#later(told),
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
