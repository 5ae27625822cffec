// The lower bound of the fan-out: bare uWebSockets.js publishes what a publisher sends.

import { loadUws } from '../../src/transport/uws/uws-library.ts';
import { answerReady } from '../support/part.ts';

interface TopicSocket {
  subscribe(topic: string): void;
  getUserData(): object;
}

interface TopicApp {
  publish(topic: string, message: ArrayBuffer, isBinary: boolean): boolean;
  ws(pattern: string, behavior: object): TopicApp;
  listen(host: string, port: number, listening: (token: unknown) => void): TopicApp;
}

const uws = loadUws();
if (uws instanceof Error) throw uws;
// The engine uses no topics of the library, so its types do not have them.
const app = uws.App() as unknown as TopicApp;
app.ws('/publish', { message: (_socket: TopicSocket, message: ArrayBuffer) => app.publish('g', message, false) });
app.ws('/*', { maxBackpressure: 64 * 1024 * 1024, open: (socket: TopicSocket) => socket.subscribe('g') });
app.listen('127.0.0.1', 0, (token) => {
  const url = `ws://127.0.0.1:${uws.us_socket_local_port(token)}`;
  answerReady(async () => ({ url, publishUrl: `${url}/publish`, pid: process.pid }));
});
