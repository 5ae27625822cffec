// Many cheap subscribers of one group in the process of the test: most count bytes, a few read the events.

import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { within } from '../wait-for.ts';

const DIALLING = 50;

/** Reads bytes and drops them. */
export class BareSubscriber implements Disposable {
  readonly socket: Socket;
  /** The last received bytes. */
  #tail: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  readonly ended: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.ended = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    const alive = setInterval(() => socket.write(PING), PING_INTERVAL_MS);
    socket.once('close', () => clearInterval(alive));
    socket.on('data', (bytes: Buffer) => {
      this.#tail =
        bytes.length >= TAIL_BYTES
          ? bytes.subarray(-TAIL_BYTES)
          : Buffer.concat([this.#tail, bytes]).subarray(-TAIL_BYTES);
    });
  }

  static async connect(url: string, path: string): Promise<BareSubscriber> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const subscriber = new BareSubscriber(socket);
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Protocol: svc.stream.v1\r\n\r\n',
    );
    await within(30_000, 'a subscriber is let in', answered);
    return subscriber;
  }

  /** So many of them, a few at a time. */
  static async crowd(url: string, path: string, count: number): Promise<BareSubscriber[]> {
    const crowd: BareSubscriber[] = [];
    while (crowd.length < count) {
      const next = Array.from({ length: Math.min(DIALLING, count - crowd.length) }, () =>
        BareSubscriber.connect(url, path),
      );
      crowd.push(...(await Promise.all(next)));
    }
    return crowd;
  }

  /** The code of the goodbye, once the server has ended the connection; `undefined`: there was none. */
  async closeCode(): Promise<number | undefined> {
    await this.ended;
    const at = this.#tail.lastIndexOf(GOODBYE);
    return at < 0 || at + 4 > this.#tail.length ? undefined : this.#tail.readUInt16BE(at + 2);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** It answers no pings, and says in this way that it lives. */
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const PING_INTERVAL_MS = 5_000;

/** Longer than a goodbye with its reason. */
const TAIL_BYTES = 130;
/** The first byte of a frame that says goodbye. */
const GOODBYE = 0x88;

/** Holds every event against the one before it, and notes how long it was on its way. Events carry `{at}`. */
export class Watcher implements Disposable {
  latenciesMs: number[] = [];
  seq = 0;
  readonly offences: string[] = [];
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (text) => this.#take(JSON.parse(String(text)), performance.now()));
    socket.on('error', () => {});
  }

  static async connect(url: string, path: string): Promise<Watcher> {
    const socket = new WebSocket(new URL(path, url), ['svc.stream.v1'], { perMessageDeflate: false });
    const watcher = new Watcher(socket);
    await within(30_000, 'a watcher is let in', new Promise((resolve) => socket.once('open', resolve)));
    return watcher;
  }

  #take(frame: StreamEvent | StreamEvent[], nowMs: number): void {
    for (const { seq = 0, event } of [frame].flat()) {
      if (event.type !== 'event') continue;
      if (seq !== this.seq + 1) this.offences.push(`${seq} after ${this.seq}`);
      this.seq = seq;
      this.latenciesMs.push(nowMs - (event.event?.data?.at ?? Number.NaN));
    }
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}

interface StreamEvent {
  readonly seq?: number;
  readonly event: { readonly type: string; readonly event?: { readonly data?: { readonly at: number } } };
}

/** The value that 99 of 100 stay below. */
export function p99(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}
