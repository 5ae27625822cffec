// Connections whose last answer was sent with `connection: close` and may be unread. A client that reads it sends no
// further request on the connection.
//
// A connection is known by its address and port, until another one opens from there. Ports are looked up first: an
// address costs more than the rest of a request's head.

import { addressOf } from './uws-exchange.ts';
import type { UwsResponse } from './uws-library.ts';

export class EndedConnections {
  readonly #keys = new Set<string>();
  /** Of these connections, and of some that were forgotten. */
  readonly #ports = new Set<number>();

  /** Returns false where the library does not report the port. */
  note(response: UwsResponse): boolean {
    const port = response.getRemotePort?.();
    if (port === undefined) return false;
    const [oldest] = this.#keys;
    if (this.#keys.size >= KEYS_MAX && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(keyOf(response, port));
    this.#ports.add(port);
    return true;
  }

  has(response: UwsResponse): boolean {
    if (this.#keys.size === 0) return false;
    const port = response.getRemotePort?.();
    return port !== undefined && this.#ports.has(port) && this.#keys.has(keyOf(response, port));
  }

  opened(response: UwsResponse): void {
    if (this.#keys.size === 0) return;
    const port = response.getRemotePort?.();
    if (port !== undefined && this.#ports.has(port)) this.#keys.delete(keyOf(response, port));
  }

  /** No connection is open. */
  clear(): void {
    this.#keys.clear();
    this.#ports.clear();
  }
}

function keyOf(response: UwsResponse, port: number): string {
  return `${addressOf(response)} ${port}`;
}

/** More than a port has connections at a time, by default. */
const KEYS_MAX = 20_000;
