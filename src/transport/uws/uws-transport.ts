// Ports that speak WebSocket on uWebSockets.js. Only the files `uws-*.ts` call that library; `uws-sockets.ts` is one
// connection, `uws-listener.ts` the open port.

import type { Clock } from '../../effects/clock.ts';
import { answerPlain, urlOffence } from '../refused-requests.ts';
import type { Listener, ListenOptions, Transport } from '../transport.ts';
import { serveOnUws } from './uws-http.ts';
import type { Uws, UwsApp } from './uws-library.ts';
import { openOnUws } from './uws-listener.ts';
import { addWebSocketRoute, refuse, UwsThread, urlOf } from './uws-sockets.ts';

export function createUwsTransport(uws: Uws, clock: Clock): Transport {
  const thread = new UwsThread(uws);
  return {
    name: 'uWebSockets.js',
    listen: (options) => listen(thread, clock, options),
    serve: (options) => serveOnUws(thread, clock, options),
  };
}

function listen(thread: UwsThread, clock: Clock, options: ListenOptions): Promise<Listener> {
  const { host, port, sharing, tls } = options;
  return openOnUws(thread.uws, { host, port, sharing, tls, route: (app) => route(thread, clock, app, options) });
}

function route(thread: UwsThread, clock: Clock, app: UwsApp, options: ListenOptions): void {
  addWebSocketRoute(thread, app, '/*', options);
  // Any request without a WebSocket upgrade: these ports speak nothing else. The answer waits for the end of the turn,
  // because the library ends a connection that sends another request before the first is answered. So no upgrade is
  // read out of bytes that another parser takes for the body.
  app.any('/*', (response, request) => {
    const answer = urlOffence(urlOf(request)) ?? answerPlain(request.getUrl());
    let isGone = false;
    response.onAborted(() => {
      isGone = true;
    });
    clock.afterTurn(() => {
      if (!isGone) response.cork(() => refuse(response, answer));
    });
  });
}
