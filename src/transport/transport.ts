// Ports of the engine, independent of the library that opens them: for WebSockets alone, and for HTTP.

import type { SharedCount } from '../core/limits/connection-counts.ts';
import type { UnreadAnswers } from '../core/limits/unread-answers.ts';
import type { HttpExchange } from './http.ts';
import type { SocketOptions } from './socket.ts';
import type { TlsOptions } from './tls.ts';

/**
 * Several threads of this process listen on the port, and the system spreads connections over them. The first one
 * opens it alone for a moment, which shows that no other process has it, and which chooses the number for port 0
 * (`port-lock.ts`).
 */
export type PortSharing = 'first' | 'further';

/** A port for WebSockets. */
export interface ListenOptions extends SocketOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly sharing?: PortSharing | undefined;
  /** `undefined`: connections are not encrypted. */
  readonly tls: TlsOptions | undefined;
}

/** A port that speaks HTTP, and WebSocket on one of its paths. */
export interface HttpListenOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly sharing?: PortSharing | undefined;
  /** `undefined`: connections are not encrypted. */
  readonly tls: TlsOptions | undefined;
  readonly connectionsMax: number;
  /** The connections of the port on all routers of the process. */
  readonly sharedConnections: SharedCount;
  /** A request has arrived; its body may still be on its way. */
  request(exchange: HttpExchange): void;
  /** Finished answers that wait for their clients. */
  readonly unread: UnreadAnswers;
  /** A random number from 0 to below 1. */
  fraction(): number;
  /** Whether the port is short of connections: then each connection ends with its answer. */
  closesAfterAnswer(): boolean;
  /** The transport answered a request itself, with that status. */
  refused(status: number): void;
  /** A path that accepts WebSockets. Requests for it without an upgrade come to `request`. */
  readonly sockets?: SocketOptions & { readonly path: string };
}

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Stops accepting; open connections stay. */
  stopAccepting(): void;
  /** Ends every remaining connection and frees the port. */
  close(): void;
  /**
   * Checks other TLS options, and returns what puts them into effect for new connections; open ones stay. Throws a
   * `TlsError`. Only for a port that was opened with TLS.
   */
  prepareTls(tls: TlsOptions): () => void;
}

export interface Transport {
  readonly name: string;
  /** Rejects with a `ListenError` when the port cannot be opened, and with a `TlsError`. */
  listen(options: ListenOptions): Promise<Listener>;
  /** A port that speaks HTTP. Rejects in the same way. */
  serve(options: HttpListenOptions): Promise<Listener>;
}

export class ListenError extends Error {
  constructor(host: string, port: number) {
    super(`Cannot listen on ${host}:${port}: the port is in use, or the address is not one of this machine`);
    this.name = 'ListenError';
  }
}
