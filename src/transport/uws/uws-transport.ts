// Ports that speak WebSocket on uWebSockets.js. Only the files `uws-*.ts` call that library; `uws-sockets.ts` is one
// connection.
//
// A trap of the library: two servers may silently share one port (the engine asks for exclusive use).

import { bareHost } from '../../core/access/origin.ts';
import type { Clock } from '../../effects/clock.ts';
import { answerPlain, urlOffence } from '../refused-requests.ts';
import { ListenError, type Listener, type ListenOptions, type Transport } from '../transport.ts';
import { serveOnUws } from './uws-http.ts';
import type { Uws } from './uws-library.ts';
import { addWebSocketRoute, refuse, urlOf } from './uws-sockets.ts';

export function createUwsTransport(uws: Uws, clock: Clock): Transport {
  return {
    name: 'uWebSockets.js',
    listen: (options) => listen(uws, clock, options),
    serve: (options) => serveOnUws(uws, clock, options),
  };
}

async function listen(uws: Uws, clock: Clock, options: ListenOptions): Promise<Listener> {
  const app = uws.App();
  addWebSocketRoute(uws, app, '/*', options);
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
  const token = await new Promise<unknown>((resolve) => {
    app.listen(bareHost(options.host), options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (!token) throw new ListenError(options.host, options.port);
  let accepting = true;
  const stopAccepting = (): void => {
    if (accepting) uws.us_listen_socket_close(token);
    accepting = false;
  };
  return {
    host: options.host,
    port: uws.us_socket_local_port(token),
    stopAccepting,
    close() {
      stopAccepting();
      app.close();
    },
  };
}
