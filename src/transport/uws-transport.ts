// Ports that speak WebSocket on uWebSockets.js. Only the files `uws-*.ts` call that library; `uws-sockets.ts` is one
// connection.
//
// A trap of the library: two servers may silently share one port (we ask for it exclusively).

import { bareHost } from '../core/origin.ts';
import type { Clock } from '../effects/clock.ts';
import { answerPlain, urlOffence } from './http-answer.ts';
import { ListenError, type Listener, type ListenOptions, type Transport } from './socket.ts';
import { serveOnUws } from './uws-http.ts';
import type { Uws } from './uws-library.ts';
import { addWebSocketRoute, refuse, urlOf } from './uws-sockets.ts';

export function createUwsTransport(uws: Uws, clock: Clock): Transport {
  return {
    name: 'uWebSockets.js',
    listen: (options) => listen(uws, options),
    serve: (options) => serveOnUws(uws, clock, options),
  };
}

async function listen(uws: Uws, options: ListenOptions): Promise<Listener> {
  const app = uws.App();
  addWebSocketRoute(uws, app, '/*', options);
  // Whatever is no WebSocket upgrade: these ports speak nothing else.
  app.any('/*', (response, request) => {
    refuse(response, urlOffence(urlOf(request)) ?? answerPlain(request.getUrl()));
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
