// An engine as a site with a web page has it: the bridge for its own workers, a port for pages, streams and HTTP, and a
// backend that admits clients with the token `good`.

import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';

export interface GuardedEngine extends AsyncDisposable {
  readonly engine: TestEngine;
  readonly backend: SvcWorker;
  /** For pages. */
  readonly url: string;
  readonly streamUrl: string;
  readonly httpUrl: string;
  /** Ids of the backend's functions that ran, without `auth`. */
  readonly ran: readonly string[];
  /** Tokens that auth functions have seen. */
  readonly tokens: readonly string[];
}

export const TOKEN = 'good.to-ken_1';

export interface Guarding {
  /** Of the port for pages. */
  readonly port?: number;
  /** What pages may call, as a pattern. */
  readonly exposes?: string;
  /** What pages may bind. */
  readonly triggerTypes?: readonly string[];
}

export async function startGuardedEngine(guarding: Guarding = {}): Promise<GuardedEngine> {
  const engine = await startTestEngine({ yaml: yamlOf(guarding) });
  const [, url, streamUrl, httpUrl] = engine.urls;
  if (url === undefined || streamUrl === undefined || httpUrl === undefined) throw new Error('A port is missing');
  const backend = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 100, log: () => {} });
  const ran: string[] = [];
  const tokens: string[] = [];
  const judge = ({ headers }: { headers: Record<string, string> }): boolean => {
    const token = (headers['sec-websocket-protocol'] ?? '').split(/, ?/).at(-1) ?? '';
    tokens.push(token);
    return token === TOKEN;
  };
  backend.registerFunction('auth::page', (request: { headers: Record<string, string> }) =>
    judge(request) ? { context: { user: 'ann' } } : null,
  );
  backend.registerFunction('auth::stream', (request: { headers: Record<string, string> }) => {
    if (judge(request)) return { context: null };
    throw new Error('no');
  });
  for (const id of ['api::echo', 'secret::echo', 'http::echo']) {
    backend.registerFunction(id, (payload: unknown) => {
      ran.push(id);
      return id === 'http::echo' ? { status_code: 200, body: 'ran' } : payload;
    });
  }
  for (const http_method of ['GET', 'POST'] as const) {
    const config = { api_path: '/run', http_method };
    await backend.registerTrigger({ type: 'http', function_id: 'http::echo', config }).ready();
  }
  return {
    engine,
    backend,
    url,
    streamUrl,
    httpUrl,
    ran,
    tokens,
    async [Symbol.asyncDispose]() {
      await backend.shutdown();
      await engine.drain();
    },
  };
}

function yamlOf({ port = 0, exposes = 'api::*', triggerTypes = [] }: Guarding): string {
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - name: svc-worker-manager
    config:
      port: ${port}
      rbac:
        auth_function_id: auth::page
        expose_functions: ['match("${exposes}")']
        allow_trigger_types: [${triggerTypes.join(', ')}]
  - name: svc-stream
    config: {port: 0, auth_function: auth::stream, adapter: {name: kv, config: {store_method: in_memory}}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
`;
}
