// Fault 44: secrets are sent wherever input is possible, and then all output of the engine is searched for them.

import { request } from 'node:http';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { ask, type Fields } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A secret names the place of its input. */
const secretOf = (place: string) => `s3cr3t-${place}-0123456789abcdef0123456789`;
const BRIDGE_TOKEN = secretOf('bridge');
const AUTHORIZED = { authorization: `Bearer ${BRIDGE_TOKEN}` };

const YAML = `drain_timeout_ms: 100
bridge_token: ${BRIDGE_TOKEN}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, auth_function: auth, adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-queue, config: {queue_configs: {default: {max_retries: 0}}, adapter: {name: builtin, config: {store_method: in_memory}}}}
  - name: svc-observability
    config:
      enabled: true
      metrics_enabled: true
      exporter: memory
      level: debug
      alerts:
        - {name: failing, metric: svc.invocations.error, threshold: 0, operator: '>', window_seconds: 60, action: {type: webhook, url: 'https://192.0.2.1/hook?key=${secretOf('webhook')}'}}
`;

const QUESTIONS: readonly (readonly [string, object])[] = [
  ['engine::logs::list', { limit: 1_000 }],
  ['engine::traces::list', { limit: 1_000, include_internal: true }],
  ['engine::metrics::list', {}],
  ['engine::health::check', {}],
  ['engine::alerts::list', {}],
  ['engine::functions::list', {}],
  ['engine::workers::list', {}],
  ['engine::registered-triggers::list', {}],
];
const PAGES = ['/metrics', '/healthz', '/readyz', '/_console/v1/config', '/_console/v1/workers', '/_console/v1/logs'];

test('[X22] fault 44: known secrets in every input place appear in no output of the engine', {
  timeout: 60_000,
}, async () => {
  const line = faultLine('44', 'secret search', 'occurrences=0');
  await using engine = await EngineProcess.start(YAML);
  const [url = '', streams = ''] = engine.urls;
  await using worker = await RawWorker.connect(url, { headers: AUTHORIZED });
  await worker.serve('auth', () => ({ context: null }));
  await worker.serve('fails', () => {
    throw new Error('it failed');
  });
  worker.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'fails', config: ROUTE });
  await worker.settled();
  const port = Number(new URL(/http:\/\/\S+:\d+/.exec(engine.stderr)?.[0] ?? '').port);

  await askHttp(port, `/fails/1?token=${secretOf('query')}&api_key=${secretOf('query-key')}&page=2`, {
    authorization: `Bearer ${secretOf('authorization')}`,
    'proxy-authorization': secretOf('proxy'),
    cookie: `session=${secretOf('cookie')}`,
    'x-api-key': secretOf('api-key'),
    baggage: `session_token=${secretOf('baggage')}`,
  });
  await tryUpgrade(url, { authorization: `Bearer ${secretOf('wrong-bridge')}` });
  await tryUpgrade(`${url}/?token=${secretOf('upgrade-query')}`, {});
  await tryUpgrade(`${streams}/stream/chat/room`, { 'sec-websocket-protocol': `Authorization, ${secretOf('stream')}` });
  const payload = { password: secretOf('payload'), nested: [{ api_key: secretOf('nested') }] };
  await worker.call('fails', payload);
  await worker.call('nobody', payload);
  await worker.call('state::set', { scope: 's', key: 'k', value: payload });
  await worker.call('state::set', { scope: 7, key: payload });
  await worker.call('fails', payload, { action: { type: 'enqueue', queue: 'default' } });
  await worker.call('fails', payload, { action: { type: 'enqueue', queue: 'nowhere' } });
  worker.send({ type: 'reattach', previous_worker_id: worker.workerId, reattach_token: secretOf('reattach') });
  worker.sendText(`{"type":"invokefunction","data":{"password":"${secretOf('broken')}"`);
  await worker.settled();

  const outputs: string[] = [];
  for (const [id, input] of QUESTIONS) outputs.push(JSON.stringify(await ask(worker, id, input)));
  for (const { trace_id } of await tracesOf(worker)) {
    outputs.push(JSON.stringify(await ask(worker, 'engine::traces::tree', { trace_id })));
  }
  for (const path of PAGES) outputs.push(await askHttp(port, path, AUTHORIZED));
  outputs.push(engine.stderr);
  const found = [...outputs.join('\n').matchAll(/s3cr3t-([a-z-]+)-0123/g)].map(([, place]) => place);
  line.figure = `occurrences=${found.length} bytes=${outputs.join('').length}`;
  expect(found).toEqual([]);
  // The search covered outputs with content.
  expect(outputs.join('\n')).toContain('it failed');
  expect(outputs.join('\n')).toContain('page=2');
});

const ROUTE = { api_path: '/fails/:id', http_method: 'GET' };

async function tracesOf(worker: RawWorker): Promise<readonly Fields[]> {
  return await waitFor('traces are there', async () => {
    const { spans } = await ask(worker, 'engine::traces::list', { limit: 1_000 });
    return Array.isArray(spans) && spans.length > 3 && spans;
  });
}

function askHttp(port: number, path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let text = `${response.statusCode} `;
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Requests a WebSocket, and leaves after any answer. */
function tryUpgrade(address: string, headers: Record<string, string>): Promise<void> {
  const { hostname, port, pathname, search } = new URL(address);
  const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  return new Promise((resolve) => {
    const sent = request({
      ...{ hostname, port, path: pathname + search, agent: false },
      headers: { ...handshake, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers },
    });
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve();
    });
    sent.on('response', (response) => {
      response.resume();
      resolve();
    });
    sent.on('error', () => resolve());
    sent.end();
  });
}
