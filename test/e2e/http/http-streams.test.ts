// Streamed bodies and answers: through channels of `svc-sdk` and of the iii client, on both transports.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { expect, test, vi } from 'vitest';
import { type HttpRequest, http, registerWorker, streamed } from '../../../src/sdk/index.ts';
import { ask, type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';

const MIB = 1024 * 1024;

onBothTransports('streamed HTTP', () => {
  test('[modules 5.5] each piece of an answer reaches the client when it is written', async () => {
    await using parts = await withWorker();
    let next = () => {};
    const steps: Promise<void>[] = [];
    await parts.route('GET', '/ticks', async (_request, answer) => {
      answer.status(202).headers({ 'content-type': 'text/event-stream', 'x-a': 'b' });
      for (let tick = 0; tick < 3; tick++) {
        steps.push(
          new Promise((resolve) => {
            next = resolve;
          }),
        );
        await answer.write(`data: ${tick}\n\n`);
        await steps.at(-1);
      }
    });
    const response = await open(parts.engine, '/ticks');
    expect(response.statusCode).toBe(202);
    expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-a': 'b' });
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    for (let tick = 0; tick < 3; tick++) {
      await waitFor(`tick ${tick}`, () => text.endsWith(`data: ${tick}\n\n`));
      next();
    }
    await once(response, 'end');
  });

  test('[modules 5.5] a handler that writes nothing answers with what it returns', async () => {
    await using parts = await withWorker();
    await parts.route('GET', '/:what', async ({ path_params }) =>
      path_params.what === 'plain' ? { status_code: 201, body: 'plain' } : undefined,
    );
    expect(await ask(parts.engine, '/plain')).toMatchObject({ status: 201, text: '"plain"' });
    expect(await ask(parts.engine, '/nothing')).toMatchObject({ status: 204, text: '' });
  });

  test('[modules 5.5] a handler that fails is a 500 before the first byte, and cuts the answer after it', async () => {
    await using parts = await withWorker();
    // The error and the first byte take two connections: either may come first.
    let arrived = (): void => {};
    const hasArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    await parts.route('GET', '/:what', async ({ path_params }, answer) => {
      if (path_params.what === 'late') {
        await answer.write('half');
        await hasArrived;
      }
      throw new Error('no');
    });
    expect(await ask(parts.engine, '/early')).toMatchObject({ status: 500 });
    const response = await fetch(`${parts.engine.httpUrl}/late`);
    expect(response.status).toBe(200);
    arrived();
    await expect(response.text()).rejects.toThrow();
  });

  test('[modules 5.5] a handler whose client leaves gets CHANNEL_CLOSED', async () => {
    await using parts = await withWorker();
    let ended: unknown;
    await parts.route('GET', '/', async (_request, answer) => {
      try {
        for (;;) await answer.write(Buffer.alloc(64 * 1024));
      } catch (error) {
        ended = error;
      }
    });
    const response = await open(parts.engine, '/');
    await once(response, 'readable');
    response.destroy();
    await waitFor('the write fails', () => ended);
    expect(ended).toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[modules 5.5] a slow client slows the handler', async () => {
    await using parts = await withWorker();
    let written = 0;
    await parts.route('GET', '/', async (_request, answer) => {
      for (let count = 0; count < 64; count++) {
        await answer.write(Buffer.alloc(MIB, count));
        written++;
      }
    });
    const response = await open(parts.engine, '/');
    response.pause();
    let before = -1;
    // Nothing announces that the writer waits. A pause that is too short only weakens the check below.
    await waitFor('the writer waits', async () => {
      const isStill = written === before && written > 0;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return isStill && written === before;
    });
    expect(written).toBeLessThan(32);
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
    });
    response.resume();
    await once(response, 'end');
    expect(size).toBe(64 * MIB);
  });

  test('[modules 5.3] a handler reads a body that is larger than the buffers of the engine', async () => {
    // With two routers the client sends while the engine reads, and a pause on uWebSockets.js takes effect late.
    await using parts = await withWorker('body_limit: 104857600', 'limits: {http: {body_buffers_bytes: 4194304}}', 2);
    await parts.route('POST', '/', async ({ request_body, body }) => {
      const hash = createHash('sha256');
      for await (const chunk of request_body) hash.update(chunk);
      return { body: { hash: hash.digest('hex'), body } };
    });
    const sent = randomBytes(64 * MIB);
    const { text } = await ask(parts.engine, '/', { method: 'POST', body: sent });
    expect(JSON.parse(text)).toEqual({ hash: createHash('sha256').update(sent).digest('hex'), body: null });
  });

  test('[modules 5.3] a handler gets a JSON body parsed and as its bytes', async () => {
    await using parts = await withWorker();
    await parts.route('POST', '/', async ({ request_body, body }) => ({
      body: { parsed: body, raw: Buffer.from(await request_body.readAll()).toString() },
    }));
    const sent = '{ "b": 1,\n "a": "é" }';
    const headers = { 'content-type': 'application/json' };
    const { text } = await ask(parts.engine, '/', { method: 'POST', headers, body: sent });
    expect(JSON.parse(text)).toEqual({ parsed: { b: 1, a: 'é' }, raw: sent });
  });

  test('[modules 5.3] a handler that reads an aborted body gets an error', async () => {
    await using parts = await withWorker();
    let failure: unknown;
    await parts.route('POST', '/', async ({ request_body }) => {
      try {
        await request_body.readAll();
      } catch (error) {
        failure = error;
      }
      return { body: 1 };
    });
    const sent = request({ port: parts.engine.httpPort, method: 'POST', headers: { 'content-length': '1000' } });
    sent.on('error', () => {});
    sent.write('half');
    await waitFor('the handler runs', () => parts.calls > 0);
    sent.destroy();
    await waitFor('the read fails', () => failure);
  });

  test('a request without a body has an empty stream', async () => {
    await using parts = await withWorker();
    await parts.route('GET', '/', async ({ request_body }) => ({ body: (await request_body.readAll()).length }));
    expect(await ask(parts.engine, '/')).toMatchObject({ status: 200, text: '0' });
  });

  test('[wire 11.6] the unmodified iii client answers requests, at once and streamed', async () => {
    vi.spyOn(console, 'debug').mockReturnValue(undefined);
    await using engine = await startHttpEngine();
    await using client = new IiiClient(engine.url);
    const { sdk } = client;
    sdk.registerFunction(
      'math::add',
      async ({ body, query_params }: { body: { x: number; y: number }; query_params: object }) => ({
        status_code: 200,
        headers: { 'x-calc': '1' },
        body: { sum: body.x + body.y, query_params },
      }),
    );
    sdk.registerTrigger({ type: 'http', function_id: 'math::add', config: { api_path: '/add', http_method: 'POST' } });
    sdk.registerFunction('text::upper', async ({ request_body, response }: IiiRequest) => {
      response.sendMessage(JSON.stringify({ type: 'set_status', status_code: 202 }));
      response.sendMessage(JSON.stringify({ type: 'set_headers', headers: { 'content-type': 'text/plain' } }));
      for await (const chunk of request_body.stream) response.stream.write(String(chunk).toUpperCase());
      response.stream.end();
    });
    sdk.registerTrigger({
      type: 'http',
      function_id: 'text::upper',
      config: { api_path: 'upper', http_method: 'POST' },
    });
    await client.ready();
    const headers = { 'content-type': 'application/json' };
    const sum = await ask(engine, '/add?round=1', { method: 'POST', headers, body: '{"x":2,"y":3}' });
    expect(sum).toMatchObject({ status: 200, headers: { 'x-calc': '1' } });
    expect(JSON.parse(sum.text)).toEqual({ sum: 5, query_params: { round: '1' } });
    const upper = await ask(engine, '/upper', { method: 'POST', body: 'quiet' });
    expect(upper).toMatchObject({ status: 202, text: 'QUIET', headers: { 'content-type': 'text/plain' } });
  });
});

interface IiiRequest {
  request_body: { stream: AsyncIterable<unknown> };
  response: { stream: { write(data: string): void; end(): void }; sendMessage(text: string): void };
}

type Streamed = Parameters<typeof streamed>[0];

async function withWorker(config = '', top = '', threads?: number) {
  const engine = await startHttpEngine(config, { top, ...(threads !== undefined && { threads }) });
  const svc = registerWorker(engine.url, { handle_signals: false });
  const parts = {
    engine,
    calls: 0,
    async route(method: 'GET' | 'POST', path: string, handler: Streamed): Promise<void> {
      const handle = streamed(handler);
      const target = svc.registerFunction('any::one', (data: HttpRequest, context) => {
        parts.calls++;
        return handle(data, context);
      });
      await svc.registerTrigger({ ...http(method, path), function_id: target }).ready();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await svc.shutdown();
      await engine.drain();
    },
  };
  return parts;
}

async function open(engine: HttpEngine, path: string): Promise<IncomingMessage> {
  const [response] = await once(get({ port: engine.httpPort, path, agent: false }), 'response');
  return response;
}
