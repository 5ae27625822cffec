// The connection to another engine, as a worker of it: over the JSON form of the wire, which every release of `iii`
// speaks too. It reconnects for ever; its owner registers again each time it is up.
//
// Invariants:
//   - `done` of a call is called exactly once, never within `call`.
//   - While the other engine is away, calls fail at once. None is kept for later.

import type { WebSocket } from 'ws';
import { redactUrl } from '../core/config-fields/redaction.ts';
import { Envelope, readEnvelope } from '../protocol/frames/envelope.ts';
import { asRawJson, type ByteString, quoted, type RawJson, rawJson } from '../protocol/json/byte-string.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

export interface LinkOutcome {
  readonly result?: RawJson | undefined;
  readonly error?: RawJson | undefined;
}

export interface LinkRequest {
  readonly functionId: string;
  readonly data: RawJson | undefined;
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

/** A call of a function that this connection registered. */
export interface LinkCall extends LinkRequest {
  /** Once. Without effect for a call that waits for no answer. */
  answer(outcome: LinkOutcome): void;
}

export interface EngineLinkOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** Its name in the lists of the other engine. */
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The connection is up, for the first time or again: the other engine knows nothing of it yet. */
  onUp(): void;
  onDown?(): void;
  onCall(call: LinkCall): void;
}

const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const CONNECT_MS_MAX = 5_000;
const PING_INTERVAL_MS = 5_000;
const BACKOFF_MS_FIRST = 100;
const BACKOFF_MS_MAX = 5_000;
/** For callers that name no time. */
export const LINK_CALL_MS_DEFAULT = 30_000;

interface OpenCall {
  readonly done: (outcome: LinkOutcome) => void;
  readonly cancel: () => void;
}

export class EngineLink {
  /** Without credentials. */
  readonly address: string;
  readonly #options: EngineLinkOptions;
  readonly #open = new Map<string, OpenCall>();
  #socket: WebSocket | undefined;
  #trouble: string | undefined = 'not connected yet';
  #isReported = false;
  #calls = 0;
  #failures = 0;
  #isClosed = false;
  #stopPings: (() => void) | undefined;

  constructor(options: EngineLinkOptions) {
    this.#options = options;
    this.address = redactUrl(options.url);
  }

  /** Why calls fail now; `undefined`: the link is up. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  start(): void {
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close(1000);
    this.#down('the link was closed');
  }

  /** `timeoutMs`: how long the caller waits. */
  call(request: LinkRequest, timeoutMs: number, done: (outcome: LinkOutcome) => void): void {
    const { clock } = this.#options;
    if (this.#trouble !== undefined) {
      const error = this.#away(`cannot be reached: ${this.#trouble}`);
      clock.afterTurn(() => done({ error }));
      return;
    }
    const id = String(++this.#calls);
    const late = (): void => this.#settle(id, { error: failure('TIMEOUT', `No answer within ${timeoutMs} ms`) });
    this.#open.set(id, { done, cancel: clock.after(timeoutMs, late) });
    this.#say(frameOf(request, `"invocation_id":"${id}"`));
  }

  /** Waits for no answer. Returns whether the call was sent. */
  send(request: LinkRequest): boolean {
    if (this.#trouble !== undefined) return false;
    this.#say(frameOf(request, '"action":{"type":"void"}'));
    return true;
  }

  register(id: string, description: string, metadata?: RawJson): void {
    const more = metadata === undefined ? '' : `,"metadata":${metadata}`;
    this.#say(`{"type":"registerfunction","id":${quoted(id)},"description":${quoted(description)}${more}}`);
  }

  bind(id: string, triggerType: string, functionId: string, config: object): void {
    const place = `"trigger_type":${quoted(triggerType)},"function_id":${quoted(functionId)}`;
    this.#say(`{"type":"registertrigger","id":${quoted(id)},${place},"config":${rawJson(config)}}`);
  }

  unbind(id: string, triggerType: string): void {
    this.#say(`{"type":"unregistertrigger","id":${quoted(id)},"trigger_type":${quoted(triggerType)}}`);
  }

  #connect(): void {
    // Loaded here: most engines have no link, and would wait for the library at their start.
    void import('ws').then((library) => {
      if (!this.#isClosed) this.#follow(this.#dial(library));
    });
  }

  #dial({ WebSocket: Socket }: typeof import('ws')): WebSocket {
    const { url, token } = this.#options;
    return new Socket(url, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      handshakeTimeout: CONNECT_MS_MAX,
      maxPayload: FRAME_BYTES_MAX,
      perMessageDeflate: false,
    });
  }

  #follow(socket: WebSocket): void {
    const { clock } = this.#options;
    this.#socket = socket;
    let heard = true;
    socket.on('open', () => {
      this.#stopPings = clock.every(PING_INTERVAL_MS, () => {
        // Silent since the last ping: the other machine is gone without a word.
        if (!heard) return socket.terminate();
        heard = false;
        socket.ping();
      });
    });
    socket.on('pong', () => {
      heard = true;
    });
    socket.on('message', (data: Buffer, isBinary) => {
      heard = true;
      if (!isBinary) this.#receive(socket, data);
    });
    // `close` follows, with less of a reason.
    let reason: string | undefined;
    socket.on('error', (error) => {
      reason = error.message;
    });
    socket.on('close', (code, text) => {
      if (socket !== this.#socket) return;
      this.#down(reason ?? (text.length > 0 ? text.toString() : `the connection was closed with code ${code}`));
    });
  }

  #receive(socket: WebSocket, data: Buffer): void {
    const frame = readEnvelope(data);
    if (socket !== this.#socket || !(frame instanceof Envelope)) return;
    const { type, invocation_id: id, function_id: functionId } = frame;
    if (type === 'workerregistered') return this.#up();
    if (type === 'invocationresult' && typeof id === 'string') {
      return this.#settle(id, { result: frame.result, error: frame.error });
    }
    if (type === 'invokefunction' && typeof functionId === 'string') {
      return this.#called(functionId, typeof id === 'string' ? id : undefined, frame);
    }
    if (type === 'registrationrejected' || (type === 'triggerregistrationresult' && frame.error !== undefined)) {
      const { logger } = this.#options;
      logger.warn('The other engine refused a registration', { address: this.address, frame: data.toString('utf8') });
    }
  }

  #called(functionId: string, id: string | undefined, { data, traceparent, baggage }: Envelope): void {
    this.#options.onCall({
      functionId,
      data,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
      baggage: typeof baggage === 'string' ? baggage : undefined,
      answer: ({ result, error }) => {
        if (id === undefined || this.#trouble !== undefined) return;
        const outcome = error === undefined ? `"result":${result ?? 'null'}` : `"error":${error}`;
        const place = `"invocation_id":${quoted(id)},"function_id":${quoted(functionId)}`;
        this.#say(`{"type":"invocationresult",${place},${outcome}}`);
      },
    });
  }

  #up(): void {
    const { name, version, logger } = this.#options;
    this.#trouble = undefined;
    this.#failures = 0;
    this.#isReported = false;
    logger.info('The other engine is connected', { address: this.address });
    const data = rawJson({ name, version, runtime: 'svc', pid: process.pid });
    this.send({ functionId: 'engine::workers::register', data });
    this.#options.onUp();
  }

  #down(reason: string): void {
    const { clock, logger, onDown } = this.#options;
    const wasUp = this.#trouble === undefined;
    this.#trouble = reason;
    this.#stopPings?.();
    this.#stopPings = undefined;
    this.#socket = undefined;
    const error = this.#away('was lost during the call; whether it took effect is unknown');
    for (const id of [...this.#open.keys()]) this.#settle(id, { error });
    if (wasUp) onDown?.();
    if (this.#isClosed) return;
    if (!this.#isReported) logger.warn('The other engine is away', { address: this.address, reason });
    this.#isReported = true;
    clock.after(Math.min(BACKOFF_MS_FIRST * 2 ** this.#failures++, BACKOFF_MS_MAX), () => this.#reconnect());
  }

  #reconnect(): void {
    if (!this.#isClosed && this.#socket === undefined) this.#connect();
  }

  #settle(id: string, outcome: LinkOutcome): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    this.#open.delete(id);
    call.cancel();
    this.#options.clock.afterTurn(() => call.done(outcome));
  }

  #away(what: string): RawJson {
    return failure('bridge_error', `The engine at ${this.address} ${what}`);
  }

  #say(frame: ByteString | string): void {
    this.#socket?.send(Buffer.from(frame, 'latin1'), { binary: false });
  }
}

export function failure(code: string, message: string): RawJson {
  return rawJson({ code, message });
}

function frameOf({ functionId, data, traceparent, baggage }: LinkRequest, more: string): RawJson {
  const trace = traceparent === undefined ? '' : `,"traceparent":${quoted(traceparent)}`;
  const bag = baggage === undefined ? '' : `,"baggage":${quoted(baggage)}`;
  const payload = data === undefined ? '' : `,"data":${data}`;
  return asRawJson(`{"type":"invokefunction",${more},"function_id":${quoted(functionId)}${payload}${trace}${bag}}`);
}
