// All live sockets, and the check for sockets that have gone silent.

import { CLOSE_CODES } from '../../../protocol/frames/close-codes.ts';
import { PING_INTERVAL_MS, SILENT_MS } from '../../../router/session/housekeeping.ts';
import type { PeerSocket, SocketEvents } from '../../../transport/socket.ts';
import type { Desk } from '../desk.ts';
import { LiveConnection } from './connection.ts';
import { Topics } from './topics.ts';

const CONNECTIONS_MAX = 256;
const NOTHING: SocketEvents = { message: () => {}, heard: () => {}, closed: () => {} };

export class LivePort {
  readonly #desk: Desk;
  readonly #topics: Topics;
  readonly #connections = new Set<LiveConnection>();
  #stopChecking: (() => void) | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#topics = new Topics(desk);
  }

  start(): void {
    this.#topics.start();
  }

  connected(socket: PeerSocket, isKnown: boolean): SocketEvents {
    if (this.#connections.size >= CONNECTIONS_MAX) {
      socket.close(CLOSE_CODES.tryAgainLater, `at most ${CONNECTIONS_MAX} live sockets`);
      return NOTHING;
    }
    const parts = {
      desk: this.#desk,
      topics: this.#topics,
      ended: (connection: LiveConnection) => this.#ended(connection),
    };
    const connection = new LiveConnection(parts, socket, isKnown);
    this.#connections.add(connection);
    this.#stopChecking ??= this.#desk.context.clock.every(PING_INTERVAL_MS, () => this.#check());
    return connection;
  }

  stop(): void {
    for (const connection of [...this.#connections]) {
      connection.end(CLOSE_CODES.goingAway, 'the engine is shutting down');
    }
    this.#topics.stop();
  }

  #ended(connection: LiveConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    this.#stopChecking?.();
    this.#stopChecking = undefined;
  }

  #check(): void {
    const nowMs = this.#desk.context.clock.monotonicMs();
    for (const connection of [...this.#connections]) {
      if (nowMs - connection.heardMs >= SILENT_MS) connection.terminate();
      else connection.ping();
    }
  }
}
