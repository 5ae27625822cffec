// The connection of a worker that knows the addresses of several engines. It dials one after the other. When its engine
// drains, it connects to another one first; what runs on the old connection finishes there.
//
// Invariant: one connection is the present one, and everything new goes there. A former one is never dialled again.

import { redialDelayMs } from '../connection/backoff.ts';
import { Connection, type ConnectionEvents, type ConnectionState } from '../connection/connection.ts';
import type { Link } from '../connection/link.ts';
import type { OpenWire } from '../wire/wire.ts';
import type { EngineConnection } from '../worker/features.ts';
import type { Settings } from '../worker/options.ts';
import type { Platform, PlatformSocket, SocketClosure } from '../worker/platform.ts';

const LASTED_MS = 1_000;

export class MovingConnection implements EngineConnection {
  readonly #platform: Platform;
  readonly #settings: Settings;
  readonly #openWire: (socket: PlatformSocket) => ReturnType<OpenWire>;
  readonly #events: ConnectionEvents;
  readonly #connections = new Set<Connection>();
  #present: Connection;
  /** It is not up yet. */
  #next: Connection | undefined;
  #hasMoved = false;
  #isEnding = false;
  /** Of the present connection. */
  #upSinceMs = 0;
  #cancelDial: (() => void) | undefined;

  constructor(
    platform: Platform,
    settings: Settings,
    openWire: (socket: PlatformSocket) => ReturnType<OpenWire>,
    events: ConnectionEvents,
  ) {
    this.#platform = platform;
    this.#settings = settings;
    this.#openWire = openWire;
    this.#events = events;
    this.#present = this.#open();
  }

  get state(): ConnectionState {
    return this.#present.state;
  }

  get link(): Link | undefined {
    return this.#present.link;
  }

  start(): void {
    this.#present.start();
  }

  end(): void {
    this.#isEnding = true;
    this.#cancelDial?.();
    for (const connection of [...this.#connections]) connection.end();
  }

  #open(): Connection {
    const events = this.#events;
    const platform: Platform = {
      ...this.#platform,
      openSocket: (request, ofSocket) =>
        this.#platform.openSocket(request, {
          ...ofSocket,
          onClose: (closure) => {
            if (connection === this.#present || connection === this.#next) this.#turnToNext();
            ofSocket.onClose(closure);
          },
        }),
    };
    const connection = new Connection(platform, this.#settings, this.#openWire, {
      ...events,
      onUp: (link, isFirst) => {
        if (connection === this.#next) this.#arrive(connection);
        this.#upSinceMs = this.#platform.clock.monotonicMs();
        events.onUp(link, isFirst && !this.#hasMoved);
      },
      onDown: (link, closure) => this.#lost(connection, link, closure),
      onFrame: (frame, link) => {
        if (frame.type === 'draining' && connection === this.#present) this.#move();
        events.onFrame(frame, link);
      },
      onClosed: (error) => {
        this.#connections.delete(connection);
        if (connection === this.#present && !this.#isEnding) events.onClosed(error);
        if (this.#isEnding && this.#connections.size === 0) events.onClosed(undefined);
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  /** The engine takes no new work. */
  #move(): void {
    if (this.#next !== undefined || this.#isEnding || !this.#settings.reconnects) return;
    // The only engine is dialled again when it has ended this connection.
    if (this.#platform.nextUrl === undefined) return;
    this.#turnToNext();
    this.#next = this.#open();
    this.#next.start();
  }

  #arrive(connection: Connection): void {
    this.#next = undefined;
    if (connection === this.#present) return;
    this.#present = connection;
    this.#hasMoved = true;
  }

  #lost(connection: Connection, link: Link, closure: SocketClosure): void {
    if (connection === this.#present) this.#arrive(this.#next ?? this.#nextAfter(connection));
    // A former one, from now on or for some time.
    if (connection !== this.#present) connection.end();
    this.#events.onDown(link, closure);
  }

  /**
   * Another engine has not failed yet, so the wait for it is a first one. Not after a connection that ended at once:
   * engines that accept and close are no better than none.
   */
  #nextAfter(connection: Connection): Connection {
    const { clock, nextUrl, random } = this.#platform;
    const lasted = clock.monotonicMs() - this.#upSinceMs >= LASTED_MS;
    if (nextUrl === undefined || !lasted || this.#isEnding || !this.#settings.reconnects) return connection;
    const next = this.#open();
    this.#cancelDial = clock.after(redialDelayMs(1, false, random), () => next.start(), 'dial');
    return next;
  }

  #turnToNext(): void {
    const { url } = this.#settings;
    this.#settings.url = this.#platform.nextUrl?.(url) ?? url;
  }
}
