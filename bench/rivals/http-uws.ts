// Bare uWebSockets.js: the library below the engine's HTTP port.

import { loadUws } from '../../src/transport/uws/uws-library.ts';
import { answerReady, HELLO } from '../support/part.ts';

const uws = loadUws();
if (uws instanceof Error) throw uws;
const app = uws.App();
app.any('/*', (response) => {
  const body = JSON.stringify(HELLO);
  response.cork(() => void response.writeHeader('content-type', 'application/json').end(body, false));
});
const token = await new Promise<unknown>((resolve) => {
  app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
});
answerReady(async () => ({ url: `http://127.0.0.1:${uws.us_socket_local_port(token)}` }));
