// Access to the HTTP port: other origins, proxies, and the console's paths.

import { expect, test } from 'vitest';
import { ask, askJson, type HttpAsk, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';

const PAGE = 'https://app.example';
const TOKEN = 'a-token-that-is-long-enough-for-this';

async function withRoute(http = '', top = '') {
  const engine = await startHttpEngine(http, { top });
  const headers: Record<string, string> = top.includes(TOKEN) ? { authorization: `Bearer ${TOKEN}` } : {};
  const worker = await RawWorker.connect(engine.url, { headers });
  await worker.serve('any::get', (data) => ({ body: data }));
  const config = { api_path: '/a' };
  worker.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'any::get', config });
  await worker.settled();
  return { engine, worker, [Symbol.asyncDispose]: () => engine.drain() };
}

function corsHeaders({ headers }: { headers: Record<string, unknown> }): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control'));
}

const PREFLIGHT: HttpAsk = {
  method: 'OPTIONS',
  headers: { origin: PAGE, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-a, X-B' },
};

test('[X13] Without configuration no answer has a CORS header', async () => {
  await using parts = await withRoute();
  for (const options of [{ headers: { origin: PAGE } }, PREFLIGHT]) {
    for (const path of ['/a', '/none', '/_console/v1/openapi.json', '/healthz']) {
      expect(corsHeaders(await ask(parts.engine, path, options))).toEqual([]);
    }
  }
});

test.each([
  ['a form of another host', { origin: PAGE }, 403],
  ['a page without a host', { origin: 'null' }, 403],
  ['an image on a page of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
  ['an image on a page of a sibling', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, 403],
  ['a link on a page of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 200],
  ['a page of the same host on another port', { origin: 'http://127.0.0.1:5173' }, 200],
  ['a page of this host proxied a proxy that changes the host', { origin: PAGE, 'sec-fetch-site': 'same-origin' }, 200],
  ['a program that is no browser', {}, 200],
])('[X3] Without configuration %s gets the right status', async (_who, headers: Record<string, string>, status) => {
  await using parts = await withRoute();
  expect((await ask(parts.engine, '/a', { headers })).status).toBe(status);
});

test.each([
  [`["${PAGE}"]`, 403],
  ['["*"]', 200],
])('[X3] With cors for %s an image without Origin on a page of another site gets %d', async (origins, status) => {
  await using parts = await withRoute(`cors: {allowed_origins: ${origins}}`);
  const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
  expect((await ask(parts.engine, '/a', { headers: image })).status).toBe(status);
  expect((await ask(parts.engine, '/a', { headers: { ...image, origin: PAGE } })).status).toBe(200);
});

test('[X13] An allowed origin gets CORS headers, others get none, and Vary is Origin for all', async () => {
  await using parts = await withRoute(`cors: {allowed_origins: ["${PAGE}"], allow_credentials: true}`);
  const from = (origin?: string) => ask(parts.engine, '/a', { headers: origin === undefined ? {} : { origin } });
  expect((await from(PAGE)).headers).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  });
  const others = ['https://app.example.evil.example', 'https://evil-app.example', 'http://app.example', `${PAGE}:8443`];
  for (const origin of [undefined, 'null', ...others]) {
    const answer = await from(origin);
    expect(corsHeaders(answer)).toEqual([]);
    expect(answer.headers.vary).toBe('Origin');
  }
});

test('[X13] The engine answers a preflight request', async () => {
  await using parts = await withRoute(`cors: {allowed_origins: ["${PAGE}"], allowed_methods: [get, put]}`);
  const answer = await ask(parts.engine, '/a', PREFLIGHT);
  expect(answer.status).toBe(204);
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': 'GET, PUT',
    'access-control-allow-headers': 'x-a, X-B',
  });
  const other = { ...PREFLIGHT, headers: { ...PREFLIGHT.headers, origin: 'https://evil.example' } };
  expect(corsHeaders(await ask(parts.engine, '/a', other))).toEqual([]);
});

test('[X13] Any origin with credentials, or an invalid origin, ends the start', async () => {
  for (const origins of ['[]', '["*"]']) {
    const start = startHttpEngine(`cors: {allowed_origins: ${origins}, allow_credentials: true}`);
    await expect(start).rejects.toThrow(/cors\.allow_credentials[\s\S]*named allowed_origins/);
  }
  await expect(startHttpEngine('cors: {allowed_origins: ["app.example"]}')).rejects.toThrow(/complete origin/);
});

test('[X15] X-Forwarded-For counts only from trusted proxies, and only to the first other address', async () => {
  const addressOf = async (http: Awaited<ReturnType<typeof withRoute>>, forwarded: string | string[]) => {
    const { body } = await askJson(http.engine, '/a', { headers: { 'x-forwarded-for': forwarded } });
    return Reflect.get(Object(body), 'client_address');
  };
  await using plain = await withRoute();
  expect(await addressOf(plain, '198.51.100.7')).toBe('127.0.0.1');
  await using proxied = await withRoute('', 'trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]');
  expect(await addressOf(proxied, '198.51.100.7')).toBe('198.51.100.7');
  expect(await addressOf(proxied, '203.0.113.9, 198.51.100.7, 10.1.2.3')).toBe('198.51.100.7');
  expect(await addressOf(proxied, ['127.0.0.1', '198.51.100.7, 10.1.2.3'])).toBe('198.51.100.7');
  expect(await addressOf(proxied, '')).toBe('127.0.0.1');
});

test('[X15] A trusted proxy that is not an address ends the start', async () => {
  await expect(startHttpEngine('', { top: 'trusted_proxies: [proxy.example]' })).rejects.toThrow(/CIDR/);
});

test('[X4] /_console needs the token on loopback too, and accepts only JSON', async () => {
  await using parts = await withRoute('', `bridge_token: ${TOKEN}`);
  const path = '/_console/v1/openapi.json';
  const statusOf = async (options: HttpAsk) => (await ask(parts.engine, path, options)).status;
  const authorization = `Bearer ${TOKEN}`;
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ headers: { authorization } })).toBe(200);
  expect(await statusOf({ headers: { 'x-forwarded-for': '198.51.100.7' } })).toBe(401);
  expect(await statusOf({ headers: { 'x-forwarded-for': 'x', authorization: `Bearer ${TOKEN}` } })).toBe(200);
  expect(await statusOf({ headers: { authorization: 'Bearer wrong' } })).toBe(401);
  expect(
    await statusOf({ method: 'POST', body: 'a=1', headers: { 'content-type': 'text/plain', authorization } }),
  ).toBe(415);
  expect(await ask(parts.engine, '/_console/none', { headers: { authorization } })).toMatchObject({ status: 404 });
});

test('[X4] [X15] A request with a forwarded address is never local, not even from a trusted proxy', async () => {
  await using parts = await withRoute('', 'trusted_proxies: [127.0.0.0/8]');
  const statusOf = async (headers: Record<string, string | string[]>) =>
    (await ask(parts.engine, '/_console/v1/openapi.json', { headers })).status;
  expect(await statusOf({})).toBe(200);
  expect(await statusOf({ 'x-forwarded-for': ['127.0.0.1', '198.51.100.7'] })).toBe(401);
  expect(await statusOf({ 'x-forwarded-for': '127.0.0.1' })).toBe(401);
  expect(await statusOf({ 'x-real-ip': '198.51.100.7' })).toBe(401);
  expect(await statusOf({ forwarded: 'for=127.0.0.1' })).toBe(401);
});

test('[X3] /_console refuses other origins and unknown hosts', async () => {
  await using parts = await withRoute();
  const statusOf = async (headers: Record<string, string>) =>
    (await ask(parts.engine, '/_console/v1/openapi.json', { headers })).status;
  expect(await statusOf({ origin: 'http://evil.example' })).toBe(403);
  expect(await statusOf({ host: 'evil.example' })).toBe(403);
  expect(await statusOf({ origin: 'http://localhost:3113' })).toBe(200);
});

test('The OpenAPI document has the routes with the schemas of their functions', async () => {
  await using parts = await withRoute();
  const request_format = {
    type: 'object',
    properties: {
      body: { type: 'object', properties: { sku: { type: 'string' } } },
      path_params: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } },
      query_params: { type: 'object', properties: { limit: { type: 'integer' } }, required: ['limit'] },
    },
  };
  const response_format = { type: 'object', properties: { body: { type: 'array' } } };
  parts.worker.send({
    type: 'registerfunction',
    id: 'orders::put',
    description: 'Changes an order',
    request_format,
    response_format,
  });
  const config = { api_path: '/orders/:id', http_method: 'PUT' };
  parts.worker.send({ type: 'registertrigger', id: 'o', trigger_type: 'http', function_id: 'orders::put', config });
  await parts.worker.settled();
  const { body } = await askJson(parts.engine, '/_console/v1/openapi.json');
  expect(body).toMatchObject({ openapi: '3.1.0', paths: { '/a': { get: { 'x-function-id': 'any::get' } } } });
  expect(Reflect.get(Object(body), 'paths')).toHaveProperty(['/orders/{id}', 'put'], {
    operationId: 'PUT /orders/{id}',
    summary: 'Changes an order',
    tags: ['orders'],
    'x-function-id': 'orders::put',
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
      { name: 'limit', in: 'query', required: true, schema: { type: 'integer' } },
    ],
    requestBody: { required: false, content: { 'application/json': { schema: request_format.properties.body } } },
    responses: expect.objectContaining({
      '200': expect.objectContaining({ content: { 'application/json': { schema: { type: 'array' } } } }),
    }),
  });
});
