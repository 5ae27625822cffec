// A client of the stream server without an SDK: the test reads every message.

import { type ClientOptions, WebSocket } from 'ws';
import { within } from '../wait-for.ts';
import { opened } from './opened.ts';

/** The envelope of every message (modules 4.4). */
export interface StreamMessage {
  readonly type: string;
  readonly timestamp: number;
  readonly streamName: string;
  readonly groupId: string;
  readonly id: string | null;
  readonly seq?: number;
  readonly epoch?: string;
  readonly conflated?: number;
  readonly event: {
    readonly type: string;
    readonly data?: unknown;
    readonly ids?: readonly string[];
    readonly recovered?: boolean;
    readonly event?: { readonly type: string; readonly data?: unknown };
  };
}

export interface StreamClientOptions {
  readonly subprotocols?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly autoPong?: boolean;
}

const WAIT_MS_MAX = 90_000;

export class StreamClient implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** All received messages. */
  readonly messages: StreamMessage[] = [];
  /** All received frames, which may hold several messages. */
  frameCount = 0;
  #taken = 0;
  #waiting: (() => void) | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (text) => {
      const value: StreamMessage | StreamMessage[] = JSON.parse(String(text));
      this.frameCount += 1;
      if (Array.isArray(value)) this.messages.push(...value);
      else this.messages.push(value);
      this.#waiting?.();
    });
    // The close event that follows has the details.
    socket.on('error', () => {});
  }

  /** `path` as in `/stream/chat/room1/`. Rejects if the upgrade is refused. */
  static async connect(url: string, path = '/', options: StreamClientOptions = {}): Promise<StreamClient> {
    const { subprotocols = [], headers = {}, autoPong = true } = options;
    const socketOptions: ClientOptions = { headers, autoPong, perMessageDeflate: false };
    const client = new StreamClient(new WebSocket(new URL(path, url), [...subprotocols], socketOptions));
    await opened(client.socket);
    return client;
  }

  join(data: object): void {
    this.say({ type: 'join', data });
  }

  leave(data: object): void {
    this.say({ type: 'leave', data });
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The oldest message that was not taken yet, or the next that arrives. */
  async next(): Promise<StreamMessage> {
    const message = this.messages[this.#taken];
    if (message !== undefined) {
      this.#taken += 1;
      return message;
    }
    const arrival = new Promise<void>((resolve) => {
      this.#waiting = resolve;
    });
    await within(WAIT_MS_MAX, 'a stream message arrives', arrival);
    return await this.next();
  }

  /** The next message, which must have this type. */
  async nextOf(type: string): Promise<StreamMessage> {
    const message = await this.next();
    if (message.event.type === type) return message;
    throw new Error(`Expected ${type}, received ${JSON.stringify(message).slice(0, 500)}`);
  }

  /** Messages until one fits, that one included. */
  async until(fits: (message: StreamMessage) => boolean): Promise<StreamMessage[]> {
    const seen: StreamMessage[] = [];
    for (;;) {
      const message = await this.next();
      seen.push(message);
      if (fits(message)) return seen;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await this.closed;
  }
}
