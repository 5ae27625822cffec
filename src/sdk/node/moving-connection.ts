// The connection of a worker that knows the addresses of several engines. It dials one after the other. When its engine
// drains, it connects to another one first; what runs on the old connection finishes there.
//
// Invariant: one connection is the present one, and everything new goes there. A former one is never dialled again.

import { Connection, type ConnectionEvents, type ConnectionState } from '../connection/connection.ts';
import type { Link } from '../connection/link.ts';
import type { OpenWire } from '../wire/wire.ts';
import type { EngineConnection } from '../worker/features.ts';
import type { Settings } from '../worker/options.ts';
import type { Platform, PlatformSocket, SocketClosure } from '../worker/platform.ts';

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
    this.#present = connection;
    this.#hasMoved = true;
  }

  #lost(connection: Connection, link: Link, closure: SocketClosure): void {
    const next = this.#next;
    if (connection === this.#present && next !== undefined) this.#arrive(next);
    // A former one, from now on or for some time.
    if (connection !== this.#present) connection.end();
    this.#events.onDown(link, closure);
  }

  #turnToNext(): void {
    const { url } = this.#settings;
    this.#settings.url = this.#platform.nextUrl?.(url) ?? url;
  }
}
