// A worker without an SDK: the test writes and reads every frame.

import { type ClientOptions, WebSocket } from 'ws';
import { within } from '../wait-for.ts';
import { opened } from './opened.ts';

export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface RawWorkerOptions {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly subprotocols?: readonly string[];
  /** False: pings of the engine are not answered. */
  readonly pongs?: boolean;
}

export interface Goodbye {
  readonly code: number;
  readonly reason: string;
}

type Matches = (frame: Frame) => boolean;

const WAIT_MS_MAX = 30_000;

export class RawWorker implements AsyncDisposable {
  readonly socket: WebSocket;
  /** How the connection ended. */
  readonly closed: Promise<Goodbye>;
  /** Frames that no `next` has taken yet, oldest first. */
  readonly frames: Frame[] = [];
  readonly #waiting: { readonly matches: Matches; readonly take: (frame: Frame) => void }[] = [];
  readonly #handlers = new Map<string, (data: unknown, frame: Frame) => unknown>();
  #greeting: Frame | undefined;
  #callCount = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (text) => this.#receive(JSON.parse(String(text))));
    // The close event that follows has the details.
    socket.on('error', () => {});
  }

  /** Connects and reads the greeting. */
  static async connect(url: string, options: RawWorkerOptions = {}): Promise<RawWorker> {
    const worker = await RawWorker.open(url, options);
    worker.#greeting = await worker.next('workerregistered');
    return worker;
  }

  /** Connects without waiting for a greeting, for paths that send none. */
  static async open(url: string, options: RawWorkerOptions = {}): Promise<RawWorker> {
    const { path = '/', headers = {}, subprotocols = [], pongs = true } = options;
    const socketOptions: ClientOptions = { headers, autoPong: pongs, perMessageDeflate: false };
    const worker = new RawWorker(new WebSocket(new URL(path, url), [...subprotocols], socketOptions));
    // `once` rejects with the socket's own error when the upgrade is refused.
    await opened(worker.socket);
    return worker;
  }

  get workerId(): string {
    return String(this.#greeting?.worker_id);
  }

  get reattachToken(): string {
    return String(this.#greeting?.reattach_token);
  }

  send(frame: Frame): void {
    this.socket.send(JSON.stringify(frame));
  }

  sendText(text: string): void {
    this.socket.send(text);
  }

  sendBinary(bytes: Uint8Array): void {
    this.socket.send(bytes, { binary: true });
  }

  /** The oldest frame of that type that was not taken yet, or the next that arrives. */
  async next(type: string, matches: Matches = () => true): Promise<Frame> {
    const fits: Matches = (frame) => frame.type === type && matches(frame);
    const index = this.frames.findIndex(fits);
    const [found] = index < 0 ? [] : this.frames.splice(index, 1);
    if (found !== undefined) return found;
    const arriving = new Promise<Frame>((take) => this.#waiting.push({ matches: fits, take }));
    return await within(WAIT_MS_MAX, `a frame of type ${type} arrives`, arriving);
  }

  /** Everything that the engine had to say up to now is here: it answers frames in the order they come. */
  async settled(): Promise<void> {
    this.send({ type: 'ping' });
    await this.next('pong');
    await RawWorker.afterSettled();
  }

  /** With several engines: until they agree. */
  static afterSettled: () => Promise<void> = async () => {};

  /** Registers a function whose every call the handler answers; a thrown value becomes the error of the call. */
  async serve(id: string, handler: (data: unknown, frame: Frame) => unknown): Promise<void> {
    this.#handlers.set(id, handler);
    await this.register(id);
  }

  /** Registers a function whose calls the test takes with `next('invokefunction')`. */
  async register(id: string): Promise<void> {
    this.send({ type: 'registerfunction', id });
    await this.settled();
  }

  /** Calls a function and returns the frame of the answer. */
  async call(functionId: string, data?: unknown, fields: Record<string, unknown> = {}): Promise<Frame> {
    return await this.answerTo(this.startCall(functionId, data, fields));
  }

  /** Sends a call and returns its id. */
  startCall(functionId: string, data?: unknown, fields: Record<string, unknown> = {}): string {
    const id = `call-${++this.#callCount}`;
    this.send({ type: 'invokefunction', invocation_id: id, function_id: functionId, data, ...fields });
    return id;
  }

  answerTo(invocationId: string): Promise<Frame> {
    return this.next('invocationresult', (frame) => frame.invocation_id === invocationId);
  }

  /** Answers a call taken with `next('invokefunction')`. */
  answer(call: Frame, outcome: { result?: unknown; error?: unknown } = {}): void {
    const { invocation_id, function_id } = call;
    this.send({ type: 'invocationresult', invocation_id, function_id, ...outcome });
  }

  close(): void {
    this.socket.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await this.closed;
  }

  #receive(frame: Frame): void {
    const handler = frame.type === 'invokefunction' ? this.#handlers.get(String(frame.function_id)) : undefined;
    if (handler !== undefined) return this.#handle(handler, frame);
    const index = this.#waiting.findIndex(({ matches }) => matches(frame));
    const [waiter] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiter === undefined) this.frames.push(frame);
    else waiter.take(frame);
  }

  #handle(handler: (data: unknown, frame: Frame) => unknown, frame: Frame): void {
    try {
      this.answer(frame, { result: handler(frame.data, frame) });
    } catch (error) {
      this.answer(frame, { error: { code: 'invocation_failed', message: String(error) } });
    }
  }
}
