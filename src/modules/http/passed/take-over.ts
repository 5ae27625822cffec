// The requests and upgrades that one further router passed on, as the first router sees them: exchanges and sockets
// like its own.

import { type ByteString, bytesToByteString } from '../../../protocol/json/byte-string.ts';
import type { BodyReader, HeaderLines, HttpBody, HttpExchange } from '../../../transport/http.ts';
import type { PreparedTexts } from '../../../transport/server-frames.ts';
import type { AcceptedRequest, Admission, PeerSocket, SocketEvents } from '../../../transport/socket.ts';
import type { PassedHttp } from '../../passed-http.ts';
import { LIVE_PATH } from '../../reserved-paths.ts';
import type { FromFirstRouter, PassedRequest, PassedUpgrade, ToFirstRouter, Unnumbered } from './messages.ts';

type Say = (message: Unnumbered<FromFirstRouter>) => void;

interface TakenOver {
  take(message: ToFirstRouter): void;
}

export class TakeOver {
  readonly #passedHttp: PassedHttp;
  readonly #send: (message: FromFirstRouter) => void;
  readonly #open = new Map<number, TakenOver>();

  constructor(passedHttp: PassedHttp, send: (message: FromFirstRouter) => void) {
    this.#passedHttp = passedHttp;
    this.#send = send;
  }

  take(message: ToFirstRouter): void {
    const { number } = message;
    const say: Say = (answer) => this.#send({ ...answer, number });
    if (message.kind === 'request') return this.#request(number, message.request, say);
    if (message.kind === 'upgrade') return void this.#upgrade(number, message.upgrade, say);
    this.#open.get(number)?.take(message);
    if (message.kind === 'gone') this.#open.delete(number);
  }

  #request(number: number, request: PassedRequest, say: Say): void {
    const exchange = new TakenExchange(request, say, () => this.#open.delete(number));
    this.#open.set(number, exchange);
    const { taker } = this.#passedHttp;
    if (taker === undefined) exchange.abort();
    else taker.handle(exchange);
  }

  async #upgrade(number: number, { remoteAddress, headers }: PassedUpgrade, say: Say): Promise<void> {
    const { taker } = this.#passedHttp;
    if (taker === undefined) return say({ kind: 'refused', status: 503, text: 'The engine is shutting down' });
    const asked = taker.admit({
      remoteAddress,
      header: (name) => headers.get(name) || undefined,
      headers: () => headers,
    });
    const admission = 'verdict' in asked ? await asked.verdict : asked;
    if (!admission.ok) return say({ kind: 'refused', status: admission.status, text: admission.text });
    const { subprotocol } = admission;
    this.#open.set(number, new TakenSocket(admission, { path: LIVE_PATH, remoteAddress, subprotocol }, say));
    say({ kind: 'admitted', subprotocol });
  }
}

class TakenExchange implements HttpExchange, TakenOver {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderLines;
  readonly remoteAddress: string;
  readonly bodyBytes: number | undefined;
  readonly #say: Say;
  readonly #over: () => void;
  readonly #sent = new SentBytes();
  #reader: BodyReader | undefined;
  #gone: (() => void) | undefined;
  #isOpen = true;

  constructor({ method, path, query, headers, remoteAddress, bodyBytes }: PassedRequest, say: Say, over: () => void) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.remoteAddress = remoteAddress;
    this.bodyBytes = bodyBytes;
    this.#say = say;
    this.#over = over;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get bufferedBytes(): number {
    return this.#sent.waiting;
  }

  take(message: ToFirstRouter): void {
    switch (message.kind) {
      case 'chunk':
        if (this.#isOpen) this.#reader?.chunk(message.bytes);
        return this.#say({ kind: 'read', bytes: message.bytes.length });
      case 'body end':
        if (this.#isOpen) this.#reader?.ended();
        return;
      case 'written':
        return this.#sent.written(message);
      case 'gone':
        if (!this.#isOpen) return;
        this.#isOpen = false;
        return this.#gone?.();
    }
  }

  readBody(reader: BodyReader): void {
    this.#reader = reader;
    if (this.bodyBytes === 0) reader.ended();
  }

  pauseBody(): void {
    this.#sayIfOpen({ kind: 'pause' });
  }

  stayPaused(): void {
    this.#sayIfOpen({ kind: 'stay paused' });
  }

  resumeBody(): void {
    this.#sayIfOpen({ kind: 'resume' });
  }

  answer(status: number, headers: HeaderLines, body: HttpBody | undefined): void {
    // A part of a larger buffer would be sent with all of that.
    this.#end({ kind: 'answer', status, headers, body: typeof body === 'object' ? new Uint8Array(body) : body });
  }

  begin(status: number, headers: HeaderLines): void {
    this.#sayIfOpen({ kind: 'begin', status, headers });
  }

  write(bytes: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#sent.sent(bytes.length);
    this.#say({ kind: 'write', bytes: new Uint8Array(bytes) });
  }

  end(): void {
    this.#end({ kind: 'end' });
  }

  abort(): void {
    this.#end({ kind: 'abort' });
  }

  whenGone(listener: () => void): void {
    this.#gone = listener;
  }

  #sayIfOpen(message: Parameters<Say>[0]): void {
    if (this.#isOpen) this.#say(message);
  }

  #end(message: Parameters<Say>[0]): void {
    if (!this.#isOpen) return;
    this.#say(message);
    this.#isOpen = false;
    this.#over();
  }
}

class TakenSocket implements PeerSocket, TakenOver {
  readonly #admission: Admission & { ok: true };
  readonly #request: AcceptedRequest;
  readonly #say: Say;
  readonly #sent = new SentBytes();
  #events: SocketEvents | undefined;
  #drained: (() => void) | undefined;
  #isOpen = false;

  constructor(admission: Admission & { ok: true }, request: AcceptedRequest, say: Say) {
    this.#admission = admission;
    this.#request = request;
    this.#say = say;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get bufferedBytes(): number {
    return this.#sent.waiting;
  }

  take(message: ToFirstRouter): void {
    switch (message.kind) {
      case 'opened':
        this.#isOpen = true;
        this.#events = this.#admission.connected?.(this, this.#request);
        return;
      case 'message':
        return this.#events?.message(message.bytes, message.isBinary);
      case 'heard':
        return this.#events?.heard();
      case 'gone':
        if (!this.#isOpen) return;
        this.#isOpen = false;
        return this.#events?.closed(message.code, message.isOverlong);
      case 'written':
        return this.#sent.written(message);
      case 'drained': {
        const drained = this.#drained;
        this.#drained = undefined;
        return drained?.();
      }
    }
  }

  sendText(text: ByteString): boolean {
    if (!this.#isOpen) return true;
    this.#sent.sent(text.length);
    this.#say({ kind: 'text', text });
    return true;
  }

  sendPrepared({ messages }: PreparedTexts): boolean {
    for (const message of messages) this.sendText(bytesToByteString(message));
    return true;
  }

  sendBinary(bytes: Uint8Array): boolean {
    if (!this.#isOpen) return true;
    this.#sent.sent(bytes.length);
    this.#say({ kind: 'binary', bytes: new Uint8Array(bytes) });
    return true;
  }

  cork(write: () => void): void {
    write();
  }

  whenDrained(drained: () => void): void {
    this.#drained = drained;
    this.#say({ kind: 'when drained' });
  }

  ping(): void {
    this.#say({ kind: 'ping' });
  }

  close(code: number, reason: string): void {
    this.#say({ kind: 'close', code, reason });
  }

  terminate(): void {
    this.#say({ kind: 'terminate' });
  }
}

/** What was sent to the client, and waits in the other router or on the way there. */
class SentBytes {
  #away = 0;
  #waiting = 0;

  get waiting(): number {
    return this.#away + this.#waiting;
  }

  sent(bytes: number): void {
    this.#away += bytes;
  }

  written({ bytes, waiting }: { readonly bytes: number; readonly waiting: number }): void {
    this.#away -= bytes;
    this.#waiting = waiting;
  }
}
