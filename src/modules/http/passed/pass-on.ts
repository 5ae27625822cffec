// Passes requests and upgrades that this router accepted on to the first router, which answers them.
//
// Invariant: of a body, a limited number of bytes is on its way: the client is paused until the first router has read.

import type { Clock } from '../../../effects/clock.ts';
import type { HttpExchange } from '../../../transport/http.ts';
import type { Admission, PeerSocket, PendingAdmission, SocketEvents } from '../../../transport/socket.ts';
import type { HttpTaker, SocketRequest } from '../../passed-http.ts';
import type { FromFirstRouter, ToFirstRouter, Unnumbered } from './messages.ts';

const BODY_BYTES_AWAY_MAX = 256 * 1024;
/** How often the first router learns that a client reads what it was sent. */
const REPORT_INTERVAL_MS = 50;

type Say = (message: Unnumbered<ToFirstRouter>) => void;

interface Passed {
  take(message: FromFirstRouter): void;
  /** Called periodically. */
  report(): void;
}

export class PassOn implements HttpTaker {
  readonly #send: (message: ToFirstRouter) => void;
  readonly #open = new Map<number, Passed>();
  #last = 0;

  constructor(send: (message: ToFirstRouter) => void, clock: Pick<Clock, 'every'>) {
    this.#send = send;
    clock.every(REPORT_INTERVAL_MS, () => {
      for (const passed of this.#open.values()) passed.report();
    });
  }

  handle(exchange: HttpExchange): void {
    const { number, say, over } = this.#next();
    this.#open.set(number, new PassedExchange(exchange, say, over));
  }

  admit({ remoteAddress, headers }: SocketRequest): PendingAdmission {
    const { number, say, over } = this.#next();
    const passed = new PassedSocket(say, over);
    this.#open.set(number, passed);
    say({ kind: 'upgrade', upgrade: { remoteAddress, headers: headers() } });
    return { verdict: passed.verdict, gone: () => passed.gone(CLIENT_LEFT, false) };
  }

  take(message: FromFirstRouter): void {
    this.#open.get(message.number)?.take(message);
  }

  #next() {
    this.#last = (this.#last + 1) % NUMBERS;
    const number = this.#last;
    const say: Say = (message) => this.#send({ ...message, number });
    return { number, say, over: () => void this.#open.delete(number) };
  }
}

const NUMBERS = 2 ** 30;
const CLIENT_LEFT = 1006;

class PassedExchange implements Passed {
  readonly #exchange: HttpExchange;
  readonly #say: Say;
  readonly #leave: () => void;
  #bytesAway = 0;
  #isPausedForRoom = false;
  #isPaused = false;
  #isOver = false;
  #waiting = 0;

  constructor(exchange: HttpExchange, say: Say, over: () => void) {
    this.#exchange = exchange;
    this.#say = say;
    this.#leave = over;
    const { method, path, query, headers, remoteAddress, bodyBytes } = exchange;
    say({ kind: 'request', request: { method, path, query, headers, remoteAddress, bodyBytes } });
    exchange.whenGone(() => {
      this.#over();
      say({ kind: 'gone', code: CLIENT_LEFT, isOverlong: false });
    });
    if (bodyBytes === 0) return;
    exchange.readBody({ chunk: (bytes) => this.#pass(bytes), ended: () => say({ kind: 'body end' }) });
  }

  take(message: FromFirstRouter): void {
    const exchange = this.#exchange;
    switch (message.kind) {
      case 'read':
        this.#bytesAway -= message.bytes;
        return this.#resumeIfRead();
      case 'pause':
        this.#isPaused = true;
        return exchange.pauseBody();
      case 'stay paused':
        return exchange.stayPaused();
      case 'resume':
        this.#isPaused = false;
        if (!this.#isPausedForRoom) exchange.resumeBody();
        return;
      case 'answer':
        this.#over();
        return exchange.answer(message.status, message.headers, message.body);
      case 'begin':
        return exchange.begin(message.status, message.headers);
      case 'write':
        exchange.write(message.bytes);
        return this.#written(message.bytes.length);
      case 'end':
        this.#over();
        return exchange.end();
      case 'abort':
        this.#over();
        return exchange.abort();
    }
  }

  report(): void {
    if (this.#isPausedForRoom) this.#exchange.stayPaused();
    if (this.#waiting > 0) this.#written(0);
  }

  #over(): void {
    this.#isOver = true;
    this.#leave();
  }

  #pass(bytes: Uint8Array): void {
    if (this.#isOver) return;
    // They are valid only now.
    this.#say({ kind: 'chunk', bytes: new Uint8Array(bytes) });
    this.#bytesAway += bytes.length;
    if (this.#isPausedForRoom || this.#bytesAway <= BODY_BYTES_AWAY_MAX) return;
    this.#isPausedForRoom = true;
    if (!this.#isPaused) this.#exchange.pauseBody();
  }

  #resumeIfRead(): void {
    if (!this.#isPausedForRoom || this.#bytesAway > BODY_BYTES_AWAY_MAX) return;
    this.#isPausedForRoom = false;
    if (!this.#isPaused) this.#exchange.resumeBody();
  }

  #written(bytes: number): void {
    this.#waiting = this.#exchange.bufferedBytes;
    this.#say({ kind: 'written', bytes, waiting: this.#waiting });
  }
}

class PassedSocket implements Passed {
  readonly verdict: Promise<Admission>;
  readonly #say: Say;
  readonly #over: () => void;
  #socket: PeerSocket | undefined;
  #decide = (_admission: Admission): void => {};
  #waiting = 0;

  constructor(say: Say, over: () => void) {
    this.#say = say;
    this.#over = over;
    this.verdict = new Promise((resolve) => {
      this.#decide = resolve;
    });
  }

  gone(code: number, isOverlong: boolean): void {
    this.#over();
    this.#say({ kind: 'gone', code, isOverlong });
  }

  take(message: FromFirstRouter): void {
    const socket = this.#socket;
    switch (message.kind) {
      case 'admitted':
        return this.#decide({
          ok: true,
          subprotocol: message.subprotocol,
          connected: (opened) => this.#connected(opened),
        });
      case 'refused':
        this.#over();
        return this.#decide({ ok: false, status: message.status, text: message.text });
      case 'text':
        socket?.sendText(message.text);
        return this.#written(message.text.length);
      case 'binary':
        socket?.sendBinary(message.bytes);
        return this.#written(message.bytes.length);
      case 'when drained':
        return this.#whenDrained();
      case 'ping':
        return socket?.ping();
      case 'close':
        return socket?.close(message.code, message.reason);
      case 'terminate':
        return socket?.terminate();
    }
  }

  report(): void {
    if (this.#waiting > 0) this.#written(0);
  }

  #connected(socket: PeerSocket): SocketEvents {
    this.#socket = socket;
    this.#say({ kind: 'opened' });
    return {
      message: (bytes, isBinary) => this.#say({ kind: 'message', bytes: new Uint8Array(bytes), isBinary }),
      heard: () => this.#say({ kind: 'heard' }),
      closed: (code, isOverlong = false) => this.gone(code, isOverlong),
    };
  }

  #whenDrained(): void {
    const socket = this.#socket;
    if (socket === undefined || !socket.isOpen) return;
    if (socket.bufferedBytes === 0) this.#say({ kind: 'drained' });
    else socket.whenDrained(() => this.#say({ kind: 'drained' }));
  }

  #written(bytes: number): void {
    this.#waiting = this.#socket?.bufferedBytes ?? 0;
    this.#say({ kind: 'written', bytes, waiting: this.#waiting });
  }
}
