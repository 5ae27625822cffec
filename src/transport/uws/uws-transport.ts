// Ports that speak WebSocket on uWebSockets.js. Only the files `uws-*.ts` call that library; `uws-sockets.ts` is one
// connection, `uws-listener.ts` the open port.

import type { Clock } from '../../effects/clock.ts';
import { answerPlain, urlOffence } from '../refused-requests.ts';
import type { Listener, ListenOptions, Transport } from '../transport.ts';
import { serveOnUws } from './uws-http.ts';
import type { Uws, UwsApp } from './uws-library.ts';
import { openOnUws } from './uws-listener.ts';
import { addWebSocketRoute, type Peers, refuse, urlOf } from './uws-sockets.ts';

export function createUwsTransport(uws: Uws, clock: Clock): Transport {
  const peers: Peers = new Map();
  return {
    name: 'uWebSockets.js',
    listen: (options) => listen(uws, clock, peers, options),
    serve: (options) => serveOnUws(uws, clock, peers, options),
  };
}

function listen(uws: Uws, clock: Clock, peers: Peers, options: ListenOptions): Promise<Listener> {
  const { host, port, sharing, tls } = options;
  return openOnUws(uws, { host, port, sharing, tls, route: (app) => route(uws, clock, peers, app, options) });
}

function route(uws: Uws, clock: Clock, peers: Peers, app: UwsApp, options: ListenOptions): void {
  addWebSocketRoute(uws, peers, app, '/*', options);
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
