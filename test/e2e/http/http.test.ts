// Requests and answers of the HTTP module, on both transports, with workers that write their own frames.

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { ask, askJson, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { onBothTransports } from '../both-transports.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const MIB = 1024 * 1024;

onBothTransports('HTTP', () => {
  test('[modules 5.3] a handler gets the whole request', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await route(worker, 'users::put', { api_path: 'users/:id/:part', http_method: 'put' }, (data) => ({ body: data }));
    const { body } = await askJson(engine, '/users/a%20b%2Fc/x?one=1&many=1&many=2+3&empty', {
      method: 'PUT',
      headers: { ...JSON_TYPE, cookie: ['a=1', 'b=2'], 'x-a': ['1', '2'], 'x-request-id': 'mine' },
      body: '{"sku":"é"}',
    });
    expect(body).toEqual({
      method: 'PUT',
      path: '/users/:id/:part',
      url: '/users/a%20b%2Fc/x?one=1&many=1&many=2+3&empty',
      path_params: { id: 'a b/c', part: 'x' },
      query_params: { one: '1', many: ['1', '2 3'], empty: '' },
      headers: expect.objectContaining({ cookie: 'a=1; b=2', 'x-a': '1, 2', 'x-request-id': 'mine' }),
      client_address: '127.0.0.1',
      trigger: { type: 'http', path: '/users/:id/:part', method: 'PUT' },
      body: { sku: 'é' },
      request_body: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'read' },
      response: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'write' },
      context: {},
    });
  });

  test('[modules 5.3] a handler gets the trace context of the request and the metadata of the trigger', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('traced::one');
    await bind(worker, 'traced::one', { api_path: '/traced' }, { metadata: { tier: 1 } });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const answer = ask(engine, '/traced', { headers: { traceparent, baggage: 'user=1' } });
    const call = await worker.next('invokefunction');
    // The trace is the same; the span is one of the engine (PD-31).
    expect(call.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-01$/);
    expect(call).toMatchObject({ metadata: { tier: 1 }, baggage: expect.stringContaining('user=1') });
    worker.answer(call, { result: { body: 1 } });
    expect(await answer).toMatchObject({ status: 200, text: '1' });
  });

  test('[modules 5.4] status, headers and body of a result become the answer', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    let result: unknown;
    await route(worker, 'any::get', { api_path: '/' }, () => result);
    const answerTo = async (value: unknown) => {
      result = value;
      return await ask(engine, '/');
    };
    expect(await answerTo({ status_code: 201 })).toMatchObject({ status: 201, text: '{}' });
    expect(await answerTo({ body: { a: 'é' } })).toMatchObject({ text: '{"a":"é"}', headers: JSON_TYPE });
    const html = { headers: { 'Content-Type': 'text/html' } };
    expect(await answerTo({ ...html, body: '<p>é\n</p>' })).toMatchObject({ text: '<p>é\n</p>' });
    expect(await answerTo({ ...html, body: null })).toMatchObject({ text: '' });
    expect(await answerTo({ ...html, body: { a: 1 } })).toMatchObject({ text: '{"a":1}' });
    expect(await answerTo({ headers: ['X-A: b: c'] })).toMatchObject({ headers: { 'x-a': 'b: c' } });
    expect(await answerTo({ headers: { 'set-cookie': ['a=1', 'b=2'] } })).toMatchObject({
      headers: { 'set-cookie': ['a=1', 'b=2'] },
    });
    expect(await answerTo({ status_code: 204, body: 1 })).toMatchObject({ status: 204, text: '' });
    expect(await answerTo(null)).toMatchObject({ status: 204, text: '' });
  });

  test('[H3] an invalid result is 502 BAD_HANDLER_RESPONSE', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    let result: unknown;
    await route(worker, 'any::get', { api_path: '/' }, () => result);
    const invalid = [
      7,
      'text',
      [],
      {},
      { status: 200 },
      { status_code: 99 },
      { status_code: 600 },
      { status_code: '200' },
    ];
    for (result of [...invalid, { headers: 7 }, { headers: { 'a b': 'c' } }, { headers: { a: {} } }]) {
      expect(await askJson(engine, '/'), JSON.stringify(result)).toMatchObject({
        status: 502,
        body: { error: { code: 'BAD_HANDLER_RESPONSE', error_id: expect.stringMatching(/^[0-9a-f]{12}$/) } },
      });
    }
  });

  test('[X14] headers of handlers cannot split the answer, and connection headers are dropped', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    let headers: unknown;
    await route(worker, 'any::get', { api_path: '/' }, () => ({ body: 'ok', headers }));
    for (const value of ['a\r\nx-evil: 1', 'a\nb', 'a\rb', 'a\0b']) {
      for (const shape of [{ 'x-a': value }, { 'x-a': ['fine', value] }, [`x-a: ${value}`]]) {
        headers = shape;
        expect(await ask(engine, '/')).toMatchObject({ status: 502 });
      }
    }
    headers = { 'Transfer-Encoding': 'chunked', connection: 'upgrade', 'content-length': '9999', 'keep-alive': 'x' };
    const answer = await ask(engine, '/');
    expect(answer).toMatchObject({ status: 200, text: '"ok"', headers: { 'content-length': '4' } });
    expect(answer.headers['transfer-encoding']).toBeUndefined();
  });

  test('[H3] invalid JSON, JSON nested too deeply and malformed escapes are 400', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await route(worker, 'any::post', { api_path: '/a/:b', http_method: 'POST' }, () => ({}));
    const post = (body: string | Uint8Array, path = '/a/b') =>
      askJson(engine, path, { method: 'POST', headers: JSON_TYPE, body });
    const refusal = { status: 400, body: { error: { code: 'BAD_REQUEST' } } };
    const deep = '['.repeat(129) + ']'.repeat(129);
    for (const body of ['{', '{"a":1,}', '1 2', "{'a':1}", deep, Buffer.from([0x22, 0xff, 0x22])]) {
      expect(await post(body)).toMatchObject(refusal);
    }
    expect(await post('{}', '/a/%zz')).toMatchObject(refusal);
    expect(await post('{}', '/a/%ff')).toMatchObject(refusal);
  });

  test('[H3] an unknown path is 404, another method is 405 with Allow, and HEAD is served by GET', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await route(worker, 'any::get', { api_path: '/a' }, () => ({ body: 'four' }));
    await route(worker, 'any::post', { api_path: '/a', http_method: 'POST' }, () => ({}));
    expect(await askJson(engine, '/b')).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
    expect(await ask(engine, '/A')).toMatchObject({ status: 404 });
    expect(await ask(engine, '/a/')).toMatchObject({ status: 404 });
    const refused = await ask(engine, '/a', { method: 'DELETE' });
    expect(refused).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
    const head = await ask(engine, '/a', { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '6' } });
  });

  test('[H3] a body over the limit is 413, with and without a content length', async () => {
    await using engine = await startHttpEngine('body_limit: 1000');
    await using worker = await RawWorker.connect(engine.url);
    await route(worker, 'any::post', { api_path: '/', http_method: 'POST' }, () => ({ body: 'ok' }));
    const refusal = { status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } };
    const body = JSON.stringify('x'.repeat(1_000));
    const sized = { ...JSON_TYPE, 'content-length': String(body.length) };
    expect(await askJson(engine, '/', { method: 'POST', headers: sized, body })).toMatchObject(refusal);
    const chunked = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
    expect(await askJson(engine, '/', { method: 'POST', headers: chunked, body })).toMatchObject(refusal);
    expect(await ask(engine, '/', { method: 'POST', headers: JSON_TYPE, body: '"ok"' })).toMatchObject({ status: 200 });
  });

  test('[H3] a handler that throws is 500, one without a worker 503, a lost one 502, and a late one 504', async () => {
    await using engine = await startHttpEngine('default_timeout: 1000');
    await using worker = await RawWorker.connect(engine.url);
    await using doomed = await RawWorker.connect(engine.url);
    await route(worker, 'any::throws', { api_path: '/throws' }, () => {
      throw new Error('no');
    });
    await bind(worker, 'any::absent', { api_path: '/absent' });
    await worker.register('any::late');
    await bind(worker, 'any::late', { api_path: '/late' });
    await doomed.register('any::lost');
    await bind(worker, 'any::lost', { api_path: '/lost' });
    expect(await askJson(engine, '/throws')).toMatchObject({
      status: 500,
      body: { error: { code: 'invocation_failed' } },
    });
    const away = await ask(engine, '/absent');
    expect(away).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(away.text)).toMatchObject({ error: { code: 'function_not_found' } });
    expect(await askJson(engine, '/late')).toMatchObject({ status: 504, body: { error: { code: 'TIMEOUT' } } });
    const lost = askJson(engine, '/lost');
    await doomed.next('invokefunction');
    doomed.socket.terminate();
    expect(await lost).toMatchObject({ status: 502, body: { error: { code: 'invocation_stopped' } } });
  });

  test('[H3] an error of the engine that a handler returns has its own status, any other is 500', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('any::fails');
    await bind(worker, 'any::fails', { api_path: '/' });
    const statusOf = async (error: unknown) => {
      const answer = ask(engine, '/');
      worker.answer(await worker.next('invokefunction'), { error });
      const { status, headers } = await answer;
      return headers['retry-after'] === undefined ? status : `${status}+`;
    };
    const codes = {
      BAD_REQUEST: 400,
      UNAUTHORIZED: 401,
      FORBIDDEN: 403,
      NOT_FOUND: 404,
      PAYLOAD_TOO_LARGE: 413,
      UNSUPPORTED_MEDIA_TYPE: 415,
      RATE_LIMITED: '429+',
      OVERLOADED: '503+',
      SHUTTING_DOWN: '503+',
      STORAGE_UNAVAILABLE: '503+',
      STORAGE_FULL: 507,
      MY_OWN: 500,
    };
    for (const [code, status] of Object.entries(codes)) {
      expect([code, await statusOf({ code, message: 'm' })]).toEqual([code, status]);
    }
    const full = { code: 'enqueue_error', message: 'm', enqueue_error: 'full', reason: 'QUEUE_FULL' };
    expect(await statusOf(full)).toBe('429+');
    expect(await statusOf({ ...full, reason: 'GROUP_FIELD' })).toBe(400);
  });

  test('[H3] an error is answered without its stack, and logged under the id in the answer', async () => {
    // Other routers write their log lines themselves.
    await using engine = await startHttpEngine('', { threads: 1 });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('any::fails');
    await bind(worker, 'any::fails', { api_path: '/' });
    const answer = ask(engine, '/');
    const error = { code: 'MY_OWN', message: 'sorry', stacktrace: 'at /secret/place.js:1' };
    worker.answer(await worker.next('invokefunction'), { error });
    const { text } = await answer;
    expect(text).not.toContain('secret');
    const id: string = JSON.parse(text).error.error_id;
    expect(engine.log.some((line) => line.includes(id) && line.includes('sorry'))).toBe(true);
  });

  test('[T8] a condition that returns false is 422, one that fails is 500, and the handler is not called', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    let verdict: unknown = true;
    let asked: unknown;
    await worker.serve('may::pass', (data) => {
      asked = data;
      if (verdict === 'fail') throw new Error('broken');
      return verdict;
    });
    let calls = 0;
    const config = { api_path: '/:id', http_method: 'POST', condition_function_id: 'may::pass' };
    await route(worker, 'any::post', config, () => {
      calls++;
      return { body: 'ok' };
    });
    const post = () => askJson(engine, '/1', { method: 'POST', headers: JSON_TYPE, body: '{"a":1}' });
    expect(await post()).toEqual({ status: 200, body: 'ok' });
    expect(asked).toMatchObject({ path_params: { id: '1' }, body: { a: 1 } });
    expect(asked).not.toHaveProperty('response');
    verdict = false;
    const skipped = { error: { code: 'CONDITION_NOT_MET' }, skipped: true };
    expect(await post()).toMatchObject({ status: 422, body: skipped });
    verdict = 'fail';
    expect(await post()).toMatchObject({ status: 500 });
    expect(calls).toBe(1);
  });

  test('[modules 5.7] middleware runs by priority, adds to the context, and may answer itself', async () => {
    await using engine = await startHttpEngine(
      'middleware: [{function_id: "m::late", priority: 5}, {function_id: "m::early", priority: -1}]',
    );
    await using worker = await RawWorker.connect(engine.url);
    const order: string[] = [];
    let last: unknown = { action: 'continue', context: { route: 1 } };
    await worker.serve('m::early', () => {
      order.push('early');
      return { action: 'continue', context: { early: 1 } };
    });
    await worker.serve('m::late', (data) => {
      order.push('late');
      expect(data).toMatchObject({ phase: 'preHandler', context: { early: 1 }, request: { method: 'GET' } });
      expect(data).not.toHaveProperty('request.body');
      return { action: 'continue' };
    });
    await worker.serve('m::route', () => {
      order.push('route');
      return last;
    });
    await route(worker, 'any::get', { api_path: '/', middleware_function_ids: ['m::route'] }, (data) => ({
      body: data,
    }));
    expect(await askJson(engine, '/')).toMatchObject({ status: 200, body: { context: { early: 1, route: 1 } } });
    expect(order).toEqual(['early', 'late', 'route']);
    last = { action: 'respond', response: { status_code: 401, body: 'who are you' } };
    expect(await askJson(engine, '/')).toEqual({ status: 401, body: 'who are you' });
    for (last of [null, true, {}, { action: 'maybe' }, { action: 'respond' }, { action: 'continue', context: 7 }]) {
      expect(await askJson(engine, '/'), JSON.stringify(last)).toMatchObject({ status: 500 });
    }
  });

  test('[L1] a request over the concurrency limit waits, and one over the waiting limit is refused', async () => {
    // Each router has places of its own for those that wait.
    await using engine = await startHttpEngine('concurrency_request_limit: 1', { threads: 1 });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    await bind(worker, 'slow::one', { api_path: '/' });
    const first = ask(engine, '/');
    const call = await worker.next('invokefunction');
    // One of the two waits until the first has ended, so the other one is answered first.
    const others = [ask(engine, '/'), ask(engine, '/')];
    const refused = await Promise.race(others);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(refused.text).toContain('OVERLOADED');
    worker.answer(call, { result: { body: 1 } });
    worker.answer(await worker.next('invokefunction'), { result: { body: 2 } });
    expect((await first).text).toBe('1');
    expect((await Promise.all(others)).filter(({ text }) => text === '2')).toHaveLength(1);
  });

  test('[G1] a draining engine finishes running requests, and answers 503 to new ones', async () => {
    // Each router begins to drain in a turn of its own.
    await using engine = await startHttpEngine('', { drainTimeoutMs: 5_000, threads: 1 });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    await bind(worker, 'slow::one', { api_path: '/' });
    const late = connect(engine.httpPort, '127.0.0.1');
    await once(late, 'connect');
    late.write('GET / HTTP/1.1\r\n');
    const running = ask(engine, '/');
    const call = await worker.next('invokefunction');
    const drained = engine.drain();
    await worker.next('draining');
    late.write('Host: localhost\r\n\r\n');
    const [refusal] = await once(late, 'data');
    expect(String(refusal)).toMatch(/^HTTP\/1\.1 503 [\s\S]*SHUTTING_DOWN/);
    late.destroy();
    worker.answer(call, { result: { body: 'done' } });
    expect(await running).toMatchObject({ status: 200, text: '"done"' });
    await drained;
  });

  test('[modules 5.1] not_found_function answers unknown paths, and ignore_trailing_slash ignores the last slash', async () => {
    await using engine = await startHttpEngine('not_found_function: "pages::none", ignore_trailing_slash: true');
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('pages::none', (data) => ({ status_code: 410, body: data }));
    await route(worker, 'any::get', { api_path: '/a/' }, () => ({ body: 'a' }));
    expect(await askJson(engine, '/a')).toEqual({ status: 200, body: 'a' });
    expect(await askJson(engine, '/a/')).toEqual({ status: 200, body: 'a' });
    expect(await askJson(engine, '/x?y=1')).toMatchObject({
      status: 410,
      body: { path: '/x', query_params: { y: '1' } },
    });
  });

  test('[PD-59] /healthz and /readyz answer until a route replaces them with a warning', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    expect(await askJson(engine, '/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await askJson(engine, '/livez')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await askJson(engine, '/readyz')).toEqual({ status: 200, body: { status: 'ready' } });
    await route(worker, 'own::health', { api_path: '/healthz' }, () => ({ body: 'mine' }));
    expect(await askJson(engine, '/healthz')).toEqual({ status: 200, body: 'mine' });
    expect(engine.log.join('\n')).toContain('replaces a path of the engine');
  });

  test('other clients are served after a client left during its request', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    await bind(worker, 'slow::one', { api_path: '/' });
    const abort = new AbortController();
    const asked = fetch(`${engine.httpUrl}/`, { signal: abort.signal });
    const call = await worker.next('invokefunction');
    abort.abort();
    await expect(asked).rejects.toThrow();
    worker.answer(call, { result: { body: 'x'.repeat(MIB) } });
    await worker.settled();
    expect(await ask(engine, '/healthz')).toMatchObject({ status: 200 });
  });
});

async function bind(worker: RawWorker, functionId: string, config: unknown, fields: object = {}): Promise<void> {
  const id = `t-${functionId}`;
  worker.send({ type: 'registertrigger', id, trigger_type: 'http', function_id: functionId, config, ...fields });
  await worker.settled();
}

async function route(
  worker: RawWorker,
  functionId: string,
  config: unknown,
  handler: (data: unknown) => unknown,
): Promise<void> {
  await worker.serve(functionId, handler);
  await bind(worker, functionId, config);
}
