// Functions that are a URL (wire 3.5), against real servers.

import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { http, registerWorker } from '../../../src/sdk/index.ts';
import { startHttpEngine } from '../../support/clients/http-engine.ts';
import { HttpTarget } from '../../support/clients/http-target.ts';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { ONE_PORT, startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const SECRET = 'a secret that must not be shown';
let engine: TestEngine;
let worker: RawWorker;

beforeEach(async () => {
  process.env.SVC_TEST_SECRET = SECRET;
  engine = await startTestEngine({ yaml: `drain_timeout_ms: 100\noutgoing: {allow: [127.0.0.1]}\n${ONE_PORT}` });
  worker = await RawWorker.connect(engine.url);
});

afterEach(async () => {
  delete process.env.SVC_TEST_SECRET;
  await worker[Symbol.asyncDispose]();
  await engine.drain();
});

async function register(invocation: unknown, id = 'remote::fn'): Promise<Frame | undefined> {
  worker.send({ type: 'registerfunction', id, invocation });
  await worker.settled();
  return worker.frames.splice(0).find(({ type }) => type === 'registrationrejected');
}

async function call(data: unknown = { a: 1 }, fields: Record<string, unknown> = {}): Promise<Frame> {
  return await worker.call('remote::fn', data, fields);
}

describe('a function that is a URL', () => {
  test('[wire 3.5] gets the payload as JSON, and its answer is the result', async () => {
    await using target = await HttpTarget.start((response) => response.end('{"sum":3}'));
    await register({ url: `${target.url}/add`, headers: { 'X-Own': 'yes' } });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    expect(await call({ x: 'ü' }, { traceparent, baggage: 'mine=1,svc.depth=4' })).toMatchObject({
      result: { sum: 3 },
    });
    const [request] = target.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/add', body: '{"x":"ü"}' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-svc-function-path': 'remote::fn',
      'x-svc-invocation-id': expect.stringMatching(/^[\da-f-]{36}$/),
      'x-svc-timestamp': expect.stringMatching(/^\d{10}$/),
      'x-own': 'yes',
      // The trace is the same; the span is one of the engine (PD-31).
      traceparent: expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-01$/),
      baggage: 'svc.depth=5',
    });
  });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    '[wire 3.5] gets the payload as the body of a %s request',
    async (method) => {
      await using target = await HttpTarget.start();
      await register({ url: target.url, method });
      await call([1]);
      expect(target.requests).toMatchObject([{ method, body: '[1]' }]);
    },
  );

  test('[wire 3.5] gets its credentials as a bearer token, a header or a signature', async () => {
    await using target = await HttpTarget.start();
    await register({ url: target.url, auth: { type: 'bearer', token_key: 'SVC_TEST_SECRET' } });
    await call();
    await register({ url: target.url, auth: { type: 'api_key', header: 'X-Key', value_key: 'SVC_TEST_SECRET' } });
    await call();
    await register({ url: target.url, auth: { type: 'hmac', secret_key: 'SVC_TEST_SECRET' } });
    await call();
    const [bearer, key, hmac] = target.requests.map(({ headers }) => headers);
    expect(bearer?.authorization).toBe(`Bearer ${SECRET}`);
    expect(key?.['x-key']).toBe(SECRET);
    const text = `${String(hmac?.['x-svc-timestamp'])}:${Buffer.from('{"a":1}').toString('base64')}`;
    expect(hmac?.['x-svc-signature']).toBe(`sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`);
  });

  test.each([
    [200, '', undefined],
    [204, '', undefined],
    [200, 'null', null],
    [302, '', undefined],
    [302, '{"moved":true}', { moved: true }],
    [302, '<html>', undefined],
  ])('[wire 3.5] that answers %d %j has the result %j', async (status, body, result) => {
    await using target = await HttpTarget.start((response) => response.writeHead(status).end(body));
    await register({ url: target.url });
    const answer = await call();
    expect([answer.error, answer.result]).toEqual([undefined, result]);
  });

  test.each([
    [200, 'hello', 'invalid_response', 'not JSON'],
    [404, '', 'http_error', 'HTTP 404'],
    [500, '<html>', 'http_error', 'HTTP 500'],
    [422, '{"error":{"code":"no_stock","message":"none left"}}', 'no_stock', 'none left'],
    [500, '{"error":"text"}', 'http_error', 'HTTP 500'],
  ])('[wire 3.5] that answers %d %j fails with %s', async (status, body, code, message) => {
    await using target = await HttpTarget.start((response) => response.writeHead(status).end(body));
    await register({ url: target.url });
    expect((await call()).error).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  test('[PD-40] ends at its timeout', async () => {
    await using target = await HttpTarget.start(() => {});
    await register({ url: target.url, timeout_ms: 100 });
    expect((await call()).error).toMatchObject({ code: 'TIMEOUT' });
  });

  test('[PD-40] may answer with up to 4 MiB', async () => {
    let bytes = 4 * 1024 * 1024;
    await using target = await HttpTarget.start((response) => response.end(JSON.stringify('x'.repeat(bytes - 2))));
    await register({ url: target.url });
    expect((await call()).error).toBeUndefined();
    bytes++;
    expect((await call()).error).toMatchObject({ code: 'RESULT_TOO_LARGE' });
  });

  test('[wire 3.5] without a server fails with an error that has no address', async () => {
    const target = await HttpTarget.start();
    await register({ url: target.url });
    await target[Symbol.asyncDispose]();
    const { error } = await call();
    expect(error).toMatchObject({ code: 'http_request_failed' });
    expect(JSON.stringify(error)).not.toContain('127.0.0.1');
  });

  test('[wire 3.3] is replaced by a handler, and removed with the worker that registered it', async () => {
    await using target = await HttpTarget.start();
    await register({ url: target.url });
    await worker.serve('remote::fn', () => 'by hand');
    expect(await call()).toMatchObject({ result: 'by hand' });
    expect(target.requests).toEqual([]);
    await register({ url: target.url });
    await using other = await RawWorker.connect(engine.url);
    await worker[Symbol.asyncDispose]();
    // Another router learns it a moment later.
    const error = await waitFor('it is removed', async () => (await other.call('remote::fn')).error);
    expect(error).toMatchObject({ code: 'function_not_found' });
  });

  test('[X22] has its secrets in no log and no report', async () => {
    await using target = await HttpTarget.start((response) => response.destroy());
    await register({ url: target.url, auth: { type: 'bearer', token_key: 'SVC_TEST_SECRET' } });
    await call();
    const shown = await worker.call('engine::functions::info', { function_id: 'remote::fn' });
    expect([...engine.log, JSON.stringify(shown)].join('\n')).not.toContain(SECRET);
  });
});

test('[I8] A chain of calls through the HTTP port of the engine is stopped at depth 64', async () => {
  await using own = await startHttpEngine('', { top: 'outgoing: {allow: [127.0.0.1]}' });
  const svc = registerWorker(own.url, { handle_signals: false, drain_timeout_ms: 0 });
  await using remote = await RawWorker.connect(own.url);
  let runs = 0;
  const again = svc.registerFunction('loop::handler', async () => {
    runs += 1;
    // Ends the test if the engine does not end the chain.
    return runs > 100 ? { body: 'no end' } : { body: await svc.trigger({ function_id: 'loop::url' }) };
  });
  const route = svc.registerTrigger({ ...http('POST', '/loop'), function_id: again });
  await route.ready();
  remote.send({ type: 'registerfunction', id: 'loop::url', invocation: { url: `${own.httpUrl}/loop` } });
  await remote.settled();
  expect((await remote.call('loop::url')).error).toMatchObject({ code: 'DEPTH_EXCEEDED' });
  expect(runs).toBeLessThan(64);
  await svc.shutdown();
});

describe('an invalid URL function is refused when it is registered', () => {
  test.each([
    [{ url: 'http://8.8.8.8/' }, 'scheme is not https'],
    [{ url: 'https://10.0.0.1/' }, 'not on the public internet'],
    [{ url: 'https://user:pw@example.com/' }, 'user info'],
    [{ url: 'nonsense' }, 'not a URL'],
    [{}, 'invocation.url'],
    [{ url: 'https://example.com', method: 'TRACE' }, 'invocation.method'],
    [{ url: 'https://example.com', timeout_ms: 60_001 }, '1 to 60000'],
    [{ url: 'https://example.com', timeout_ms: 0 }, '1 to 60000'],
    [{ url: 'https://example.com', headers: { 'a b': 'c' } }, "'a b'"],
    [{ url: 'https://example.com', headers: { a: 'b\r\nc: d' } }, 'is not a valid header'],
    [{ url: 'https://example.com', headers: { 'Content-Length': '1' } }, 'set by the engine'],
    [{ url: 'https://example.com', auth: { type: 'bearer', token_key: 'SVC_NOT_THERE' } }, "'SVC_NOT_THERE'"],
    [{ url: 'https://example.com', auth: { type: 'basic' } }, 'invocation.auth must be object of another shape'],
  ])('[X16] %j: %s', async (invocation, text) => {
    const refusal = await register(invocation);
    expect(refusal).toMatchObject({ function_id: 'remote::fn', message: expect.stringContaining(text) });
    expect((await call()).error).toMatchObject({ code: 'function_not_found' });
  });
});

describe('the settings of URL functions', () => {
  test('[PD-1] in drop-in mode the headers have the prefix of iii', async () => {
    await using target = await HttpTarget.start();
    const yaml = `compat: iii\ndrain_timeout_ms: 100\noutgoing: {allow: [127.0.0.1]}\n${ONE_PORT}`;
    await using dropIn = await startTestEngine({ yaml });
    await using caller = await RawWorker.connect(dropIn.url);
    caller.send({ type: 'registerfunction', id: 'remote::fn', invocation: { url: target.url } });
    await caller.call('remote::fn', 1);
    const [request] = target.requests;
    expect(request?.headers).toMatchObject({ 'x-iii-function-path': 'remote::fn' });
    expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-svc'))).toEqual([]);
  });

  test('[PD-22] an invalid entry of outgoing.allow is refused with the reason', async () => {
    const yaml = `outgoing: {allow: [billing.internal, 'http://a/']}\n${ONE_PORT}`;
    await expect(startTestEngine({ yaml })).rejects.toThrow('host name, an address or a CIDR block');
  });

  test('[PD-40] the module svc-http-functions is refused by an error that names outgoing.allow', async () => {
    const yaml = 'workers:\n  - {name: svc-http-functions}\n';
    await expect(startTestEngine({ yaml })).rejects.toThrow('outgoing.allow');
  });
});
