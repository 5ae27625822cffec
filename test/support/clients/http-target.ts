// A server that requests of the engine may or may not reach: it counts the connections.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

export class HttpTarget implements AsyncDisposable {
  readonly port: number;
  readonly requests: ReceivedRequest[] = [];
  /** Accepted connections. */
  connections = 0;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(answer: Answer = (response) => response.end('{}')): Promise<HttpTarget> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port');
    const target = new HttpTarget(server, address.port);
    server.on('connection', () => target.connections++);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
      target.requests.push(received);
      answer(response, received);
    });
    return target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
