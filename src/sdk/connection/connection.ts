// Keeps one connection to the engine up: dials, waits and dials again, without end (W4).
//
// Neighbours: the platform opens sockets, `link.ts` is the connection that others send on, `liveness.ts` ends it when
// the engine falls silent, `connection-troubles.ts` writes the messages, `worker.ts` receives the events and puts
// everything back on a new link.
//
// Modes and transitions:
//   idle      created, not started                   start  → dialling
//   dialling  a socket is opening                    named  → up         failed or slow → waiting
//   up        the engine named this connection       lost   → waiting
//   waiting   until the next dial                    timer  → dialling
//   ending    closed here, the socket is not yet     closed → closed
//   closed    final
//
// - A link exists in mode `up` only. Every link that went up goes down exactly once.
// - Events of any socket but the current one are ignored.
// - The worker is up when the engine has named the connection, not when the socket opens. Only then is it certain that
//   an engine is there, and a later connection uses the name to have this one cleaned up.
// - Only the wait for the next dial keeps the process alive by itself.

import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { WorkerRegistered } from '../../protocol/frames/frames.ts';
import type { SvcError } from '../calls/errors.ts';
import { type DeliveredCall, encodeFrame, type FrameReceiver, type ReceivedFrame, type Wire } from '../wire/wire.ts';
import type { Settings } from '../worker/options.ts';
import type { Platform, PlatformSocket, SocketClosure } from '../worker/platform.ts';
import { REDIAL_MS_MAX, redialDelayMs } from './backoff.ts';
import { ConnectionTroubles } from './connection-troubles.ts';
import { Link } from './link.ts';
import { Liveness } from './liveness.ts';

/** From the dial to the engine's first frame. */
const DIAL_MS_MAX = 10_000;
/** How long the closing handshake may take before the socket is dropped. */
const CLOSE_MS_MAX = 1_000;
const TOO_MANY_REQUESTS = 429;
/** The most that the engine adds around a payload of the allowed size. */
const ENVELOPE_BYTES = 64 * 1024;

/**
 * Whether a worker has a connection: `connecting` (a dial is in progress), `connected`, `disconnected` (waiting for
 * the next dial), `closed` (shut down).
 *
 * @example
 * import { registerWorker, type ConnectionState } from 'svc-sdk';
 *
 * const state: ConnectionState = registerWorker().state_of_connection;
 * console.log(state);
 */
export type ConnectionState = 'connecting' | 'connected' | 'disconnected' | 'closed';

/** Frames that the connection does not handle itself. */
export type WorkFrame = Exclude<ReceivedFrame, { type: 'workerregistered' | 'ping' | 'pong' }>;

export interface ConnectionEvents {
  /** The connection is up. What is sent on it now is the first the engine gets, except for the reattach. */
  onUp(link: Link, isFirst: boolean): void;
  onDown(link: Link, closure: SocketClosure): void;
  onFrame(frame: WorkFrame, link: Link): void;
  onCall(call: DeliveredCall, payload: unknown, link: Link): void;
  /** The answer to a call of this worker. */
  onResult(number: number, result: unknown): void;
  onError(number: number, error: unknown, traceparent: string | undefined): void;
  /** The engine refused the dial because of its credentials. `isNews` unless the last dial ended the same way. */
  onRefused(error: SvcError, isNews: boolean): void;
  /** Closed for good, with the reason if the user did not ask for it. */
  onClosed(error: SvcError | undefined): void;
}

type Mode =
  | { readonly name: 'idle' | 'closed' }
  | Dialling
  | { readonly name: 'up'; readonly socket: PlatformSocket; readonly link: Link; readonly sinceMs: number }
  | { readonly name: 'waiting'; readonly cancelDial: () => void }
  | { readonly name: 'ending'; readonly socket: PlatformSocket; readonly cancelTimeout: () => void };

interface Dialling {
  readonly name: 'dialling';
  readonly socket: PlatformSocket;
  readonly cancelTimeout: () => void;
}

export class Connection {
  readonly #platform: Platform;
  readonly #settings: Settings;
  readonly #openWire: (socket: PlatformSocket) => Wire;
  readonly #events: ConnectionEvents;
  /** Only `#enter` writes it. */
  #mode: Mode = { name: 'idle' };
  /** Of the current socket; kept outside the mode because every message uses them. */
  #liveness: Liveness | undefined;
  #wire: Wire | undefined;
  /** Failed or short connections since the last one that lasted. */
  #failures = 0;
  /** The engine's name of the previous connection, which is torn down before the next one is used. */
  #previous: { readonly worker_id: string; readonly reattach_token: string } | undefined;
  readonly #troubles: ConnectionTroubles;
  readonly #receiver: FrameReceiver = {
    onFrame: (frame) => this.#onFrame(frame),
    onCall: (call, payload) => {
      if (this.#mode.name === 'up') this.#events.onCall(call, payload, this.#mode.link);
    },
    onBrokenCall: (call, error) => this.link?.sendError(call, error),
    onResult: (number, result) => {
      if (this.#mode.name === 'up') this.#events.onResult(number, result);
    },
    onError: (number, error, traceparent) => {
      if (this.#mode.name === 'up') this.#events.onError(number, error, traceparent);
    },
    onUnreadable: (problem) => this.#troubles.unreadable(problem),
  };
  #lastRefusal: string | undefined;

  constructor(
    platform: Platform,
    settings: Settings,
    openWire: (socket: PlatformSocket) => Wire,
    events: ConnectionEvents,
  ) {
    this.#platform = platform;
    this.#settings = settings;
    this.#openWire = openWire;
    this.#events = events;
    this.#troubles = new ConnectionTroubles(settings, platform.clock);
  }

  get state(): ConnectionState {
    return STATES[this.#mode.name];
  }

  /** The connection, while it is up. */
  get link(): Link | undefined {
    return this.#mode.name === 'up' ? this.#mode.link : undefined;
  }

  start(): void {
    if (this.#mode.name === 'idle') this.#dial();
  }

  /** Ends the connection and stops dialling. What was sent still leaves. */
  end(): void {
    const mode = this.#mode;
    switch (mode.name) {
      case 'up':
        mode.link.flush();
        this.#enterEnding(mode.socket);
        this.#goDown(mode.link, { code: 1000, reason: SHUT_DOWN });
        mode.socket.close(1000, SHUT_DOWN);
        return;
      case 'dialling':
        mode.cancelTimeout();
        this.#enterEnding(mode.socket);
        mode.socket.terminate();
        return;
      case 'waiting':
        mode.cancelDial();
        this.#enterClosed(undefined);
        return;
      case 'idle':
        this.#enterClosed(undefined);
    }
  }

  #dial(): void {
    const { url, headers, subprotocols, frameBytesMax } = this.#settings;
    this.#wire = undefined;
    const socket: PlatformSocket = this.#platform.openSocket(
      { purpose: 'worker', url, headers, subprotocols, messageBytesMax: frameBytesMax + ENVELOPE_BYTES },
      {
        onMessage: (message) => {
          if (this.#isPresent(socket)) this.#onMessage(socket, message);
        },
        onAlive: () => {
          if (this.#isPresent(socket)) this.#liveness?.heard(this.#platform.clock.monotonicMs());
        },
        onClose: (closure) => {
          if (this.#isPresent(socket)) this.#onClose(closure);
        },
      },
    );
    const reason = `no answer within ${DIAL_MS_MAX / 1000} s`;
    const cancelTimeout = this.#giveUpAfter(DIAL_MS_MAX, socket, { code: 1006, reason });
    this.#enter({ name: 'dialling', socket, cancelTimeout });
  }

  /** A socket that does not answer may not even report that it was dropped: its end is declared here. */
  #giveUpAfter(delayMs: number, socket: PlatformSocket, closure: SocketClosure): () => void {
    return this.#platform.clock.after(delayMs, () => this.#abandon(socket, closure));
  }

  #abandon(socket: PlatformSocket, closure: SocketClosure): void {
    socket.terminate();
    if (this.#isPresent(socket)) this.#onClose(closure);
  }

  #isPresent(socket: PlatformSocket): boolean {
    return 'socket' in this.#mode && this.#mode.socket === socket;
  }

  #onMessage(socket: PlatformSocket, message: string | Uint8Array): void {
    const nowMs = this.#platform.clock.monotonicMs();
    this.#liveness?.heard(nowMs);
    if (this.#mode.name === 'up') this.#mode.link.receivedMs = nowMs;
    this.#wire ??= this.#openWire(socket);
    this.#wire.receive(message, this.#receiver);
  }

  #onFrame(frame: ReceivedFrame): void {
    const mode = this.#mode;
    switch (frame.type) {
      case 'workerregistered':
        if (mode.name === 'dialling' && this.#wire !== undefined) this.#goUp(mode, frame, this.#wire);
        return;
      case 'ping':
        if (mode.name === 'up') mode.link.sendFrame(encodeFrame({ type: 'pong' }));
        return;
      case 'pong':
        return;
      default:
        if (mode.name === 'up') this.#events.onFrame(frame, mode.link);
    }
  }

  #goUp({ socket, cancelTimeout }: Dialling, registered: WorkerRegistered, wire: Wire): void {
    cancelTimeout();
    const { worker_id, reattach_token, in_flight_per_caller: callsMax } = registered;
    const { clock } = this.#platform;
    const { frameBytesMax } = this.#settings;
    const link = new Link({ workerId: worker_id, socket, wire, clock, frameBytesMax, callsMax });
    this.#enter({ name: 'up', socket, link, sinceMs: clock.monotonicMs() });
    this.#liveness = new Liveness(clock, {
      ping: () => socket.ping(),
      onSilent: (silentMs) =>
        this.#abandon(socket, {
          code: CLOSE_CODES.silent,
          reason: `nothing heard from it for ${Math.round(silentMs / 1000)} s`,
        }),
    });
    const previous = this.#previous;
    this.#previous = { worker_id, reattach_token };
    if (previous !== undefined) {
      const { worker_id: previous_worker_id, reattach_token: token } = previous;
      link.sendFrame(encodeFrame({ type: 'reattach', previous_worker_id, reattach_token: token }));
    }
    this.#lastRefusal = undefined;
    this.#troubles.connected();
    this.#events.onUp(link, previous === undefined);
  }

  #onClose(closure: SocketClosure): void {
    const mode = this.#mode;
    if (mode.name === 'ending') {
      mode.cancelTimeout();
      this.#enterClosed(undefined);
      return;
    }
    if (mode.name === 'dialling') mode.cancelTimeout();
    if (mode.name === 'up' && this.#platform.clock.monotonicMs() - mode.sinceMs >= REDIAL_MS_MAX) {
      // Only a connection that lasted resets the failures: an engine that accepts and closes is no better than none.
      this.#failures = 0;
      this.#troubles.lasted();
    }
    this.#failures++;
    const error = this.#troubles.explain(mode.name === 'up', closure);
    if (this.#settings.reconnects) {
      const isRateLimited = closure.httpStatus === TOO_MANY_REQUESTS;
      const delayMs = redialDelayMs(this.#failures, isRateLimited, this.#platform.random);
      const cancelDial = this.#platform.clock.after(delayMs, () => this.#dial(), 'dial');
      this.#enter({ name: 'waiting', cancelDial });
    } else {
      this.#enter({ name: 'closed' });
    }
    if (mode.name === 'up') this.#goDown(mode.link, closure);
    if (error.code !== 'UNREACHABLE') {
      const isNews = error.message !== this.#lastRefusal;
      this.#lastRefusal = error.message;
      this.#events.onRefused(error, isNews);
    }
    if (!this.#settings.reconnects) this.#events.onClosed(error);
  }

  #goDown(link: Link, closure: SocketClosure): void {
    this.#liveness?.stop();
    this.#liveness = undefined;
    link.drop();
    this.#events.onDown(link, closure);
  }

  #enterEnding(socket: PlatformSocket): void {
    const cancelTimeout = this.#giveUpAfter(CLOSE_MS_MAX, socket, { code: 1006, reason: 'no answer to the close' });
    this.#enter({ name: 'ending', socket, cancelTimeout });
  }

  #enterClosed(error: SvcError | undefined): void {
    this.#enter({ name: 'closed' });
    this.#events.onClosed(error);
  }

  #enter(mode: Mode): void {
    this.#mode = mode;
  }
}

const STATES: Readonly<Record<Mode['name'], ConnectionState>> = {
  idle: 'connecting',
  dialling: 'connecting',
  up: 'connected',
  waiting: 'disconnected',
  ending: 'closed',
  closed: 'closed',
};

const SHUT_DOWN = 'shut down';
