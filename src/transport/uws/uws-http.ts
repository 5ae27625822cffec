// HTTP on uWebSockets.js: the port. `uws-exchange.ts` is one request.
//
// Traps of the library, and what is done here: the request object is invalid when its callback returns (it is read at
// once). The library accepts duplicate lengths and unknown encodings (`refused-requests.ts` checks them), and parses
// chunks less strictly than others do. So a connection that brought a chunked body is closed after its answer, and
// bytes that another parser would take for a second request are never read. But the library closes at the end of the
// piece that it reads, with all the requests in it. It ends a connection that sends another request before the first is
// answered, so an answer that closes waits for the end of the turn. So does every other answer: while a worker's
// message is handled no other connection can be corked, and each header would be a system call of its own. The times of
// guarantees 4 are the library's own (PD-28).

import type { UnreadAnswers } from '../../core/limits/unread-answers.ts';
import type { Clock } from '../../effects/clock.ts';
import { textToByteString } from '../../protocol/json/byte-string.ts';
import { faultBody, type HttpFault, readFraming } from '../refused-requests.ts';
import type { HttpListenOptions, Listener } from '../transport.ts';
import { EndedConnections } from './ended-connections.ts';
import { LastAnswer } from './last-answer.ts';
import { addressOf, UwsExchange, writeHead } from './uws-exchange.ts';
import type { UwsRequest, UwsResponse } from './uws-library.ts';
import { openOnUws } from './uws-listener.ts';
import { addWebSocketRoute, type UwsThread } from './uws-sockets.ts';

export function serveOnUws(thread: UwsThread, clock: Clock, options: HttpListenOptions): Promise<Listener> {
  const state = new UwsHttpPort(clock, options);
  const { host, port, sharing, tls, sockets } = options;
  return openOnUws(thread.uws, {
    host,
    port,
    sharing,
    tls,
    route(app) {
      app.filter((response, change) => (change > 0 ? state.opened(response) : state.closed()));
      if (sockets !== undefined) addWebSocketRoute(thread, app, sockets.path, sockets, () => state.closed());
      app.any('/*', (response, request) => state.take(response, request));
    },
    stopped() {
      state.isClosing = true;
    },
  });
}

/** State that all requests of one port share. */
class UwsHttpPort {
  /** From now on a connection ends with its answer. */
  isClosing = false;
  readonly #clock: Clock;
  readonly #options: HttpListenOptions;
  #connections = 0;
  /** The one address that all current connections have, as far as known without asking each (see `opened`). */
  #onlyAddress: string | undefined;
  #writes: (() => void)[] = [];
  readonly #ended = new EndedConnections();

  constructor(clock: Clock, options: HttpListenOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Runs `write` when no other connection is being handled, after the earlier ones. */
  later(write: () => void): void {
    if (this.#writes.push(write) > 1) return;
    this.#clock.afterTurn(() => {
      const writes = this.#writes;
      this.#writes = [];
      for (const next of writes) next();
    });
  }

  /**
   * Asking for an address costs more than the rest of a request's head: it is a system call and two objects. The
   * library does not report which connection a request came on, but mostly all come from one place, a proxy. So the
   * address is known without asking until a connection from elsewhere opens, and again from the next time that none is
   * open.
   */
  opened(response: UwsResponse): void {
    this.#ended.opened(response);
    // Empty where the connection is gone already.
    const address = addressOf(response) || undefined;
    if (this.#connections === 0) this.#onlyAddress = address;
    else if (this.#onlyAddress !== address) this.#onlyAddress = undefined;
    this.#connections++;
    this.#options.sharedConnections.note(this.#connections);
  }

  get closesAfterAnswer(): boolean {
    return this.isClosing || this.#options.closesAfterAnswer();
  }

  /**
   * Whether a connection ends with an answer that has no body. The library does not report whether the client reads
   * such answers; so no connection gets many thousands of them.
   */
  endsWithoutBody(): boolean {
    return this.#options.fraction() < ENDED_SHARE;
  }

  noteEnded(response: UwsResponse): boolean {
    return this.#ended.note(response);
  }

  get unread(): UnreadAnswers {
    return this.#options.unread;
  }

  closed(): void {
    this.#connections--;
    this.#options.sharedConnections.note(this.#connections);
    if (this.#connections === 0) this.#ended.clear();
  }

  addressOf(response: UwsResponse): string {
    return this.#onlyAddress ?? addressOf(response);
  }

  take(response: UwsResponse, request: UwsRequest): void {
    if (this.#ended.has(response)) {
      response.close();
      return;
    }
    const headers: string[] = [];
    request.forEach((name, value) => {
      headers.push(name, value);
    });
    const method = request.getCaseSensitiveMethod();
    const path = request.getUrl();
    const query = request.getQuery() ?? '';
    const framing = readFraming(method, path.length + query.length, headers);
    if (!framing.ok) return this.#refuse(response, framing.fault);
    const { connectionsMax, sharedConnections } = this.#options;
    if (this.#connections + sharedConnections.elsewhere > connectionsMax) return this.#refuse(response, TOO_MANY);
    const exchange = new UwsExchange(this, response, { method, path, query, headers, bodyBytes: framing.bodyBytes });
    exchange.corked(() => this.#options.request(exchange));
    exchange.watch();
  }

  #refuse(response: UwsResponse, fault: HttpFault): void {
    this.#options.refused(fault.status);
    let isGone = false;
    let rest: LastAnswer | undefined;
    response.onAborted(() => {
      isGone = true;
      rest?.gone();
    });
    this.later(() => {
      if (isGone) return;
      const body = textToByteString(faultBody(fault));
      const head = (): void => writeHead(response, fault.status, ['content-type', 'application/json']);
      rest = new LastAnswer(response, { head, body, length: body.length }, this);
    });
  }
}

/** Of the answers without a body, those that end their connection. */
const ENDED_SHARE = 1 / 1_000;

const TOO_MANY: HttpFault = {
  status: 503,
  code: 'OVERLOADED',
  message: 'This port is at its limit of connections',
};
