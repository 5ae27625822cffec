// The console server: the built pages, a proxy to the engine's API, and facts about itself.
//
// It starts and runs without an engine (APP-1): pages and facts about this server are always answered.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { bareHost, hostInUrl } from '../../core/access/origin.ts';
import { SDK_VERSION } from '../../sdk/worker/announcement.ts';
import { CONSOLE_INFO_PATH, type ConsoleInfo, HTTP_REQUEST_PATH } from '../api/console-server.ts';
import type { ErrorEnvelope } from '../api/envelope.ts';
import { EngineAddress } from './engine-address.ts';
import { BridgeLink } from './engine-link.ts';
import { Guard, type Offence } from './guard.ts';
import { sendHttpRequest } from './http-request.ts';
import { type ConsoleOptions, ConsoleStartError, checkOptions } from './options.ts';
import { createPageServer } from './page-server.ts';
import { Pages, securityHeaders } from './pages.ts';
import { API_PATH, ApiProxy } from './proxy.ts';
import { SocketProxy } from './sockets.ts';

export interface RunningConsole {
  /** With the port that was chosen. */
  readonly url: string;
  /** Where it expects the HTTP port of the engine. */
  readonly engine: string;
  stop(): Promise<void>;
  /** Reads the certificate of the pages again. */
  refresh(): void;
}

/** Rejects with a `ConsoleStartError`. `printLine` receives lines for the user who started the server. */
export async function startConsole(
  options: ConsoleOptions,
  printLine: (line: string) => void,
): Promise<RunningConsole> {
  checkOptions(options);
  const guard = new Guard(options);
  const pages = new Pages();
  const engine = new EngineAddress(options);
  const { server, refresh, stop: stopFollowing } = createPageServer(options, printLine);
  const port = await listen(server, options);
  const link = new BridgeLink(options, engine, printLine);
  const proxy = new ApiProxy(options, engine);
  const sockets = new SocketProxy(options, engine, guard);
  server.on('request', (request, response) => take({ options, guard, pages, proxy, link, engine }, request, response));
  sockets.listen(server);
  return {
    url: `http${options.tls === undefined ? '' : 's'}://${hostInUrl(options.host)}:${port}/`,
    engine: engine.http,
    refresh,
    async stop() {
      stopFollowing();
      sockets.stop();
      engine.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await link.stop();
    },
  };
}

async function listen(server: Server, { host, port }: ConsoleOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const reason = 'code' in error ? String(error.code) : error.message;
      reject(new ConsoleStartError(`Cannot listen on ${hostInUrl(host)}:${port} (${reason}).`, { isUsage: false }));
    });
    server.listen({ host: bareHost(host), port, exclusive: true }, resolve);
  });
  // Without free file descriptors a new connection cannot be accepted. Its client sees that, and the open ones
  // continue.
  server.on('error', () => {});
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

interface RequestHandlers {
  readonly options: ConsoleOptions;
  readonly guard: Guard;
  readonly pages: Pages;
  readonly proxy: ApiProxy;
  readonly link: BridgeLink;
  readonly engine: EngineAddress;
}

function take(
  { options, guard, pages, proxy, link, engine }: RequestHandlers,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { url = '/', method = 'GET' } = request;
  const [path = '/'] = url.split('?');
  const foreign = guard.placeOffence(request);
  if (foreign !== undefined) return refuse(response, foreign);
  if (path.startsWith(API_PATH)) {
    const offence = guard.dataOffence(request) ?? guard.tokenOffence(request) ?? guard.readOnlyOffence(request, path);
    if (offence !== undefined) return refuse(response, offence);
    if (path !== HTTP_REQUEST_PATH || method !== 'POST') return proxy.pass(request, url, response);
    sendHttpRequest(engine, request, response).catch(() => response.destroy());
    return;
  }
  if (method !== 'GET' && method !== 'HEAD') return refuse(response, GET_ONLY);
  if (path === CONSOLE_INFO_PATH) return answerJson(response, 200, infoOf(options, guard, link));
  pages.answer(path, method === 'HEAD', response).catch(() => response.destroy());
}

/** Contains no secret: a page has to know whether to ask for the token. */
function infoOf(options: ConsoleOptions, guard: Guard, link: BridgeLink): ConsoleInfo {
  return {
    version: SDK_VERSION,
    read_only: options.isReadOnly,
    flow_enabled: options.hasFlow,
    token_required: guard.needsToken,
    engine: link.facts(),
  };
}

const GET_ONLY: Offence = {
  status: 405,
  error: { code: 'METHOD_NOT_ALLOWED', message: 'Pages take GET and HEAD' },
};

function refuse(response: ServerResponse, { status, error }: Offence): void {
  const body: ErrorEnvelope = { error };
  answerJson(response, status, body);
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    ...Object.fromEntries(securityHeaders(undefined)),
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
