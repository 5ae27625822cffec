// A callback of the library for what must run inside one and has no other: see `giveLater` in `uws-sockets.ts`. It is
// the handler of a request that the thread sends to itself.
//
// Invariant: every task runs once, inside a callback where a request can be sent, and without one otherwise.

import { connect } from 'node:net';
import type { Uws, UwsApp } from './uws-library.ts';

export class UwsCallback {
  readonly #uws: Uws;
  /** The library keeps an app until the process ends, so there is one. */
  #app: UwsApp | undefined;
  #tasks: (() => void)[] = [];
  #isAsking = false;
  /** The request has come. */
  #isHeard = false;

  constructor(uws: Uws) {
    this.#uws = uws;
  }

  run(task: () => void): void {
    this.#tasks.push(task);
    if (!this.#isAsking) this.#ask();
  }

  #ask(): void {
    this.#isAsking = true;
    this.#isHeard = false;
    this.#app ??= this.#uws.App().any('/*', (response) => {
      this.#isHeard = true;
      this.#runAll();
      response.end(undefined, true);
    });
    const { LIBUS_LISTEN_EXCLUSIVE_PORT, us_listen_socket_close, us_socket_local_port } = this.#uws;
    this.#app.listen('127.0.0.1', 0, LIBUS_LISTEN_EXCLUSIVE_PORT, (token) => {
      if (!token) return this.#asked();
      const socket = connect(us_socket_local_port(token), '127.0.0.1');
      // The close event follows.
      socket.on('error', () => {});
      socket.on('close', () => {
        us_listen_socket_close(token);
        this.#asked();
      });
      socket.resume();
      socket.end('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    });
  }

  #asked(): void {
    this.#isAsking = false;
    if (!this.#isHeard) this.#runAll();
    // They came after the request.
    if (this.#tasks.length > 0) this.#ask();
  }

  #runAll(): void {
    for (const task of this.#tasks.splice(0)) task();
  }
}
