// Every route of the console API on a real engine, with its answers compared with the shared contract.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorker } from '../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../src/sdk/worker/svc-worker.ts';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';
import {
  type ConsoleEngine,
  consoleCall,
  consoleError,
  consoleReply,
  startConsoleEngine,
} from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const HOSTILE = ['a/b', 'x:y', '50%', 'a%2Fb', 'sp ace', '<img src=x>', 'o\'clock "q"', 'emoji 🐘', '..', '\u202eevil'];

let engine: ConsoleEngine;
let worker: SvcWorker;

beforeAll(async () => {
  engine = await startConsoleEngine();
  worker = createWorker(engine.url, { worker_name: 'orders', handle_signals: false, log: () => {} });
  await worker.ready();
  worker.registerFunction(
    {
      id: 'api::echo',
      description: 'Says it again',
      input: { type: 'object', properties: { n: { type: 'integer' } } },
    },
    async (input: unknown) => input,
  );
  worker.registerFunction('api::fails', async () => {
    throw new Error('no stock 4711');
  });
  for (const name of HOSTILE) worker.registerFunction(`h::${name}`, async () => name);
  worker.registerTrigger({
    type: 'http',
    function_id: 'api::echo',
    config: { api_path: '/echo', http_method: 'POST' },
  });
  worker.registerTrigger({ type: 'event', function_id: 'api::echo', config: { topic: 'user.created' } });
  worker.registerTrigger({ type: 'cron', function_id: 'api::echo', config: { expression: '0 0 * * * *' } });
  await waitFor('the functions are registered', async () => {
    const { total } = await consoleCall(engine, 'GET /triggers');
    const { total: functions } = await consoleCall(engine, 'GET /functions');
    return total === 3 && functions === 2 + HOSTILE.length;
  });
});

afterAll(async () => {
  await worker.shutdown();
  await engine.drain();
});

describe('the engine as a whole', () => {
  test('GET /status has version, ports, modules, absent modules and counts', async () => {
    const status = await consoleCall(engine, 'GET /status');
    expect(status.counts).toMatchObject({ functions: 2 + HOSTILE.length, triggers: 3, workers: 1, queues: 2 });
    expect(status.ports.map(({ name }) => name)).toEqual(['workers', 'http', 'streams']);
    expect(status.modules.map(({ name }) => name)).toContain('svc-state');
    expect(status.overload_level).toBe(0);
    expect(status.cluster).toBeNull();
  });

  test('GET /config gives every value with its source, secrets redacted', async () => {
    const { values, yaml } = await consoleCall(engine, 'GET /config');
    const sourceOf = (path: string) => values.find((value) => value.path === path)?.source;
    expect(sourceOf('drain_timeout_ms')).toBe('file');
    expect(sourceOf('workers.svc-http.port')).toBe('file');
    expect(sourceOf('workers.svc-http.body_limit')).toBe('default');
    expect(yaml).toContain('drain_timeout_ms: 200');
  });

  test('GET /config/schema describes every field of every module', async () => {
    const { modules } = await consoleCall(engine, 'GET /config/schema');
    const http = modules.find(({ name }) => name === 'svc-http');
    expect(http?.fields.find(({ path }) => path === 'port')?.help).toMatch(/Port for HTTP/);
  });
});

describe('what is registered', () => {
  test('GET /functions filters, sorts and pages', async () => {
    const found = await consoleCall(engine, 'GET /functions', { query: { ns: 'api', sort: 'id', order: 'desc' } });
    expect(found.items.map((row) => row.function_id)).toEqual(['api::fails', 'api::echo']);
    const first = await consoleCall(engine, 'GET /functions', { query: { limit: 1 } });
    expect(first.items).toHaveLength(1);
    const second = await consoleCall(engine, 'GET /functions', {
      query: { limit: 1, cursor: first.next_cursor ?? '' },
    });
    expect(second.items[0]?.function_id).not.toBe(first.items[0]?.function_id);
    const all = await consoleCall(engine, 'GET /functions', { query: { internal: true, q: 'state::' } });
    expect(all.items.every((row) => row.internal)).toBe(true);
  });

  test('GET /functions/{id} has schemas and triggers', async () => {
    const detail = await consoleCall(engine, 'GET /functions/{id}', { path: ['api::echo'] });
    expect(detail.registered_triggers.map((row) => row.trigger_type).sort()).toEqual(['cron', 'event', 'http']);
    expect(detail.request_schema).toMatchObject({ type: 'object' });
  });

  test.each(HOSTILE)('a function named %j is found by its encoded id', async (name) => {
    const detail = await consoleCall(engine, 'GET /functions/{id}', { path: [`h::${name}`] });
    expect(detail.function_id).toBe(`h::${name}`);
  });

  test('GET /triggers and GET /triggers/{id} have status, next run and the payload of a manual firing', async () => {
    const { items } = await consoleCall(engine, 'GET /triggers', { query: { type: 'cron' } });
    const [cron] = items;
    expect(cron).toMatchObject({ status: 'Active', function_id: 'api::echo' });
    const detail = await consoleCall(engine, 'GET /triggers/{id}', { path: [cron?.id ?? ''] });
    expect(detail.next_fire_time).not.toBeNull();
    expect(detail.sample).toMatchObject({ trigger: 'cron' });
  });

  test('GET /trigger-types lists kinds with their number of triggers', async () => {
    const { types } = await consoleCall(engine, 'GET /trigger-types');
    expect(types.find(({ id }) => id === 'http')).toMatchObject({ available: true, count: 1 });
  });

  test('GET /workers and GET /workers/{id} show a worker with its functions and its history', async () => {
    const { items } = await consoleCall(engine, 'GET /workers');
    const [row] = items;
    expect(row).toMatchObject({ name: 'orders', status: 'available', reconnects: 0 });
    const detail = await consoleCall(engine, 'GET /workers/{id}', { path: [row?.id ?? ''] });
    expect(detail.function_rows.length).toBe(2 + HOSTILE.length);
    expect(detail.history.map(({ event }) => event)).toEqual(['connected']);
  });

  test('Missing objects are a 404 with a code', async () => {
    for (const route of ['GET /functions/{id}', 'GET /triggers/{id}', 'GET /workers/{id}'] as const) {
      expect(await consoleError(engine, route, { path: ['nobody'] })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  });
});

describe('calls by hand', () => {
  test('POST /invoke answers the bare result, with trace id, duration and worker in the headers', async () => {
    const body = '{"function_id":"api::echo","payload":{"n":248480010225057793,"f":1.0}}';
    const reply = await consoleReply(engine, 'POST /invoke', { body });
    expect(reply.status).toBe(200);
    expect(reply.headers['x-svc-trace-id']).toMatch(/^[\da-f]{32}$/);
    expect(reply.headers['x-svc-worker']).toBe('orders');
    expect(Number(reply.headers['x-svc-duration-ms'])).toBeGreaterThan(0);
  });

  test('POST /_console/invoke is the same handler and takes input for payload', async () => {
    const { status, text } = await ask(engine, '/_console/invoke', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"function_id":"api::echo","input":{"n":3}}',
    });
    expect([status, JSON.parse(text)]).toEqual([200, { n: 3 }]);
  });

  test('A handler that throws is a 500 with its message, and with the trace id', async () => {
    const reply = await consoleReply(engine, 'POST /invoke', { body: { function_id: 'api::fails' } });
    expect(reply.status).toBe(500);
    expect(reply.text).toContain('no stock 4711');
    expect(reply.headers['x-svc-trace-id']).toMatch(/^[\da-f]{32}$/);
  });

  test('An unregistered function is a 404, a wrong shape a 400', async () => {
    const unknown = await consoleError(engine, 'POST /invoke', { body: { function_id: 'no::such' } });
    expect(unknown).toMatchObject({ status: 404, code: 'function_not_found' });
    const wrong = await consoleError(engine, 'POST /invoke', { body: { function_id: 7 } });
    expect(wrong).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect(wrong.message).toContain("'function_id'");
  });

  test('[API-3] The handler sees that the console called it', async () => {
    let seen: unknown;
    worker.registerFunction('api::origin', async (_input: unknown, { trigger }) => {
      seen = trigger;
      return null;
    });
    await waitFor('the function is called', async () => {
      await consoleReply(engine, 'POST /invoke', { body: { function_id: 'api::origin' } });
      return seen !== undefined;
    });
    expect(seen).toMatchObject({ type: 'console' });
  });

  test('void is accepted at once; enqueue gives a receipt; an unknown queue is a 400', async () => {
    const call = { function_id: 'api::echo', payload: { n: 1 } };
    const accepted = await consoleReply(engine, 'POST /invoke', { body: { ...call, action: { type: 'void' } } });
    expect([accepted.status, accepted.text]).toEqual([200, 'null']);
    const action = { type: 'enqueue', queue: 'mail' };
    const job = await consoleReply(engine, 'POST /invoke', { body: { ...call, action } });
    expect(JSON.parse(job.text)).toEqual({ messageReceiptId: expect.any(String) });
    const refused = await consoleError(engine, 'POST /invoke', {
      body: { ...call, action: { type: 'enqueue', queue: 'nope' } },
    });
    expect(refused).toMatchObject({ status: 400, code: 'QUEUE_NOT_FOUND' });
  });

  test('POST /triggers/{id}/fire runs a trigger now', async () => {
    const { items } = await consoleCall(engine, 'GET /triggers', { query: { type: 'cron' } });
    const fired = await consoleCall(engine, 'POST /triggers/{id}/fire', { path: [items[0]?.id ?? ''], body: {} });
    expect(fired).toMatchObject({ function_id: 'api::echo', payload: { trigger: 'cron', manual: true } });
  });

  test('POST /events/emit lists the triggers that it fired', async () => {
    const emitted = await consoleCall(engine, 'POST /events/emit', {
      body: { name: 'user.created', payload: { id: 1 } },
    });
    expect(emitted.fired.map(({ function_id }) => function_id)).toEqual(['api::echo']);
  });
});

describe('which requests are accepted', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=many', 'limit'],
    ['order=up', 'order'],
    ['sort=colour', 'sort'],
    ['cursor=-1', 'cursor'],
    ['colour=red', 'colour'],
  ])('GET /functions?%s is refused by name', async (query, name) => {
    const { status, text } = await ask(engine, `/_console/v1/functions?${query}`);
    expect([status, text]).toEqual([400, expect.stringContaining(name)]);
  });

  test('An unknown path, an unknown method and a malformed escape have different errors', async () => {
    expect((await ask(engine, '/_console/v1/colours')).status).toBe(404);
    expect((await ask(engine, '/_console/v1/functions', { method: 'DELETE' })).status).toBe(405);
    expect((await ask(engine, '/_console/v1/functions/%zz')).status).toBe(400);
  });

  test('[X4] Only JSON is accepted, and no CORS header is ever sent', async () => {
    const reply = await ask(engine, '/_console/v1/invoke', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '{"function_id":"api::echo"}',
    });
    expect(reply.status).toBe(415);
    const allowed = await ask(engine, '/_console/v1/status', { headers: { origin: 'http://127.0.0.1:3113' } });
    expect(allowed.status).toBe(200);
    expect(Object.keys(allowed.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('[X3] A page of another origin and an unknown host are refused', async () => {
    const foreign = await ask(engine, '/_console/v1/status', { headers: { origin: 'http://evil.example' } });
    expect(foreign.status).toBe(403);
    const rebound = await ask(engine, '/_console/v1/status', { headers: { host: 'evil.example' } });
    expect(rebound.status).toBe(403);
  });

  test('A route that needs a missing module names it, and says what to add', async () => {
    await using bare = await startHttpEngine();
    const error = await consoleError(bare, 'GET /states/scopes');
    expect(error).toMatchObject({ status: 404, code: 'MODULE_MISSING', details: { module: 'svc-state' } });
    const { types } = await consoleCall(bare, 'GET /trigger-types');
    expect(types.find(({ id }) => id === 'cron')).toMatchObject({ available: false });
  });
});
