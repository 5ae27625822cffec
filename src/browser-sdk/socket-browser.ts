// A WebSocket of the browser in the form that the SDK needs.
//
// The browser hides from a page why a dial failed (that may concern another site), and pings and pongs as well. Workers
// and streams send a message of their own as a ping; channels rely on the browser to report their end.

import { SUBPROTOCOL_AUTHORIZATION } from '../protocol/frames/subprotocols.ts';
import { encodeFrame } from '../sdk/wire/wire.ts';
import type { PlatformSocket, SocketClosure, SocketEvents, SocketRequest } from '../sdk/worker/platform.ts';

export type GetToken = () => string | Promise<string>;

export class BrowserSocket implements PlatformSocket {
  readonly #request: SocketRequest;
  readonly #events: SocketEvents;
  /** Absent while the token is requested. */
  #socket: WebSocket | undefined;
  #isOver = false;

  constructor(request: SocketRequest, events: SocketEvents, getToken: GetToken | undefined) {
    this.#request = request;
    this.#events = events;
    void this.#dial(getToken);
  }

  get subprotocol(): string {
    return this.#socket?.protocol ?? '';
  }

  sendTexts(texts: readonly string[]): void {
    if (this.#isOpen()) for (const text of texts) this.#socket?.send(text);
  }

  sendBytes(memory: Uint8Array<ArrayBuffer>, start: number, end: number): boolean {
    // The browser makes a copy.
    if (this.#isOpen()) this.#socket?.send(memory.subarray(start, end));
    return true;
  }

  ping(): void {
    if (!this.#isOpen()) return;
    if (this.#request.purpose === 'channel') this.#events.onAlive();
    else this.#socket?.send(encodeFrame({ type: 'ping' }));
  }

  close(code: number, reason: string): void {
    if (this.#socket === undefined) this.terminate();
    else this.#socket.close(code, reason);
  }

  terminate(): void {
    if (this.#socket === undefined) queueMicrotask(() => this.#end({ code: 1006, reason: '' }));
    else this.#socket.close();
  }

  bufferedBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  async #dial(getToken: GetToken | undefined): Promise<void> {
    try {
      const proof = getToken === undefined ? [] : [SUBPROTOCOL_AUTHORIZATION, checkToken(await getToken())];
      if (this.#isOver) return;
      this.#listen(new WebSocket(this.#request.url, [...this.#request.subprotocols, ...proof]));
    } catch (error) {
      this.#end({ code: 1006, reason: String(error) });
    }
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
      this.#events.onMessage(typeof data === 'string' ? data : new Uint8Array(data));
    socket.onclose = ({ code, reason }) => this.#end({ code, reason });
  }

  #isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  #end(closure: SocketClosure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.onClose(closure);
  }
}

/** The browser's own error for an invalid token would quote it. */
function checkToken(token: string): string {
  if (SUBPROTOCOL.test(token)) return token;
  throw new Error('auth: the token is no valid subprotocol');
}

const SUBPROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
