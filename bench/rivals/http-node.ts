// node:http as a single process, with the least that such a handler needs.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerReady, HELLO } from '../support/part.ts';

const server = createServer((_request, response) => {
  const body = JSON.stringify(HELLO);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
answerReady(async () => ({ url: `http://127.0.0.1:${port}` }));
