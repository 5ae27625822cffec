// Handlers of HTTP triggers on every form of the wire of svc-sdk: none can detect which one it has.

import { afterEach, describe, expect, test } from 'vitest';
import { type HandlerContext, type HttpRequest, http, type SvcWorker, streamed } from '../../../src/sdk/index.ts';
import { createWorker, nodePlatform, type Platform } from '../../../src/sdk/internal.ts';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';

const workers: SvcWorker[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((svc) => svc.shutdown()));
});

/** A worker that asks for one form. `svc.compact.v1` is what an SDK of version 0.1 asks for. */
function connect(url: string, form: string): SvcWorker {
  const platform: Platform = {
    ...nodePlatform,
    openSocket: (request, events) => {
      const isWorker = request.purpose === 'worker';
      return nodePlatform.openSocket(isWorker ? { ...request, subprotocols: [form] } : request, events);
    },
  };
  const svc = createWorker(url, { handle_signals: false, drain_timeout_ms: 100, log: () => {} }, platform);
  workers.push(svc);
  return svc;
}

describe.each(['svc.compact.v2', 'svc.compact.v1', 'svc.json.v1'])('a worker on %s', (form) => {
  test('[modules 5.3] [wire 2.5] gets the whole request, and its trigger, metadata and context', async () => {
    await using engine = await startHttpEngine();
    const svc = connect(engine.url, form);
    const seen: [HttpRequest, HandlerContext][] = [];
    const show = svc.registerFunction('users::show', (request: HttpRequest, context) => {
      seen.push([request, context]);
      return { status_code: 201, headers: { 'x-a': ['1', '2'] }, body: { request, spread: { ...request } } };
    });
    const bound = svc.registerTrigger({
      ...http('PUT', '/users/:id/:part'),
      function_id: show,
      metadata: { team: 'größe' },
    });
    await bound.ready();
    // Twice: what requests of a route have in common is sent with the first one only.
    for (const id of ['a%20b%2Fc', 'é']) {
      const response = await fetch(`${engine.httpUrl}/users/${id}/x?one=1&many=1&many=2+3`, {
        method: 'PUT',
        headers: {
          'content-type': 'application/json',
          'x-request-id': 'mine',
          traceparent: TRACEPARENT,
          baggage: 'b=1',
        },
        body: '{"sku":"é","list":[1,{"a":null}]}',
      });
      expect([response.status, response.headers.get('x-a'), response.headers.get('content-type')]).toEqual([
        201,
        '1, 2',
        'application/json',
      ]);
      const expected = {
        method: 'PUT',
        path: '/users/:id/:part',
        trigger: { type: 'http', path: '/users/:id/:part', method: 'PUT' },
        url: `/users/${id === 'é' ? '%C3%A9' : id}/x?one=1&many=1&many=2+3`,
        path_params: { id: decodeURIComponent(id), part: 'x' },
        query_params: { one: '1', many: ['1', '2 3'] },
        headers: expect.objectContaining({ 'x-request-id': 'mine', baggage: 'b=1' }),
        client_address: '127.0.0.1',
        body: { sku: 'é', list: [1, { a: null }] },
        request_body: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'read' },
        response: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'write' },
        context: {},
      };
      expect(await response.json()).toEqual({ request: expected, spread: expected });
    }
    const [[request, context] = []] = seen;
    expect(Object.keys(request ?? {}).sort()).toEqual([...MEMBERS].sort());
    expect(context?.trigger).toEqual({ type: 'http', id: expect.any(String) });
    expect(context?.metadata).toEqual({ team: 'größe' });
    expect(context?.functionId).toBe('users::show');
    expect(context?.trace?.trace_id).toBe('a'.repeat(32));
    expect([...(context?.baggage ?? [])]).toEqual(
      expect.arrayContaining([
        ['b', '1'],
        ['svc.function.id', 'users::show'],
      ]),
    );
  });

  test('[modules 5.5] [wire 2.5] reads the body of a request, and answers in pieces', async () => {
    await using engine = await startHttpEngine();
    const svc = connect(engine.url, form);
    const upper = svc.registerFunction(
      'text::upper',
      streamed(async (request: HttpRequest, answer) => {
        answer.status(202).headers({ 'content-type': 'text/plain' });
        const bytes = await request.request_body.readAll();
        for (const word of Buffer.from(bytes).toString().split(' ')) await answer.write(word.toUpperCase());
      }),
    );
    await svc.registerTrigger({ ...http('POST', '/upper'), function_id: upper }).ready();
    const response = await fetch(`${engine.httpUrl}/upper`, { method: 'POST', body: 'größe and more' });
    expect([response.status, await response.text()]).toEqual([202, 'GRÖSSEANDMORE']);
  });

  test('[modules 5.4] [wire 2.5] answers HEAD by the route of GET, and with text, nothing, or what the engine refuses', async () => {
    await using engine = await startHttpEngine();
    const svc = connect(engine.url, form);
    const results: Readonly<Record<string, unknown>> = {
      text: { headers: { 'content-type': 'text/html' }, body: '<p>ü</p>' },
      none: null,
      bodiless: { status_code: 204, body: { a: 1 } },
      status: { status_code: 99 },
      list: [1],
      lines: { headers: ['x-a: 1'], body: 'a' },
    };
    const one = svc.registerFunction('forms::one', ({ path_params, method }: HttpRequest) =>
      method === 'HEAD' ? { headers: { 'x-method': method }, body: 'head' } : results[path_params.name ?? ''],
    );
    await svc.registerTrigger({ ...http('GET', '/forms/:name'), function_id: one }).ready();
    const got = async (name: string, method = 'GET'): Promise<unknown[]> => {
      const response = await ask(engine, `/forms/${name}`, { method });
      return [response.status, response.text];
    };
    expect(await got('text')).toEqual([200, '<p>ü</p>']);
    expect(await got('none')).toEqual([204, '']);
    expect(await got('bodiless')).toEqual([204, '']);
    expect(await got('lines')).toEqual([200, '"a"']);
    expect(await got('status')).toEqual([502, expect.stringContaining('status_code must be a whole number')]);
    expect(await got('list')).toEqual([502, expect.stringContaining('BAD_HANDLER_RESPONSE')]);
    const head = await ask(engine, '/forms/text', { method: 'HEAD' });
    expect([head.status, head.headers['x-method'], head.headers['content-length']]).toEqual([200, 'HEAD', '6']);
  });
});

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const MEMBERS = [
  'method',
  'path',
  'trigger',
  'url',
  'path_params',
  'query_params',
  'headers',
  'client_address',
  'body',
  'request_body',
  'response',
  'context',
];
