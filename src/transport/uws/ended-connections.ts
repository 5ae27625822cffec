// Connections whose last answer was sent with `connection: close` and may be unread. A client that reads it sends no
// further request on the connection.
//
// A connection is known by its address and port, until another one opens from there.

import { addressOf } from './uws-exchange.ts';
import type { UwsResponse } from './uws-library.ts';

export class EndedConnections {
  readonly #keys = new Set<string>();

  /** Returns false where the library does not report the port. */
  note(response: UwsResponse): boolean {
    const key = keyOf(response);
    if (key === undefined) return false;
    const [oldest] = this.#keys;
    if (this.#keys.size >= KEYS_MAX && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
    return true;
  }

  has(response: UwsResponse): boolean {
    if (this.#keys.size === 0) return false;
    const key = keyOf(response);
    return key !== undefined && this.#keys.has(key);
  }

  opened(response: UwsResponse): void {
    if (this.#keys.size === 0) return;
    const key = keyOf(response);
    if (key !== undefined) this.#keys.delete(key);
  }
}

function keyOf(response: UwsResponse): string | undefined {
  return response.getRemotePort === undefined ? undefined : `${addressOf(response)} ${response.getRemotePort()}`;
}

/** More than a port has connections at a time, by default. */
const KEYS_MAX = 20_000;
