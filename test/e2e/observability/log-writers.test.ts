// Log records are found by the worker, function and job that wrote them, however they were written.

import { expect, test } from 'vitest';
import { Enqueue } from '../../../src/sdk/index.ts';
import { startHttpEngine } from '../../support/clients/http-engine.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const YAML = `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-queue
    config:
      queue_configs: {mail: {max_retries: 0}}
      adapter: {name: builtin, config: {store_method: in_memory}}
`;
const connectTo = sdkWorkers();

interface Found {
  readonly logs: readonly { readonly body: string; readonly trace_id: string | null }[];
}

test('[LOG-4] Records of ctx.logger, svc.logger and engine::log are found by job, worker and function', async () => {
  await using engine = await startTestEngine({ yaml: YAML });
  const svc = connectTo(engine.url, { worker_name: 'post office' });
  const nested = svc.registerFunction('stamps::buy', async (_none: unknown, ctx) => {
    ctx.logger.info('bought a stamp');
    return null;
  });
  const mail = svc.registerFunction('mail::send', async (_none: unknown, ctx) => {
    ctx.logger.info('by ctx.logger');
    svc.logger.info('by svc.logger');
    await svc.trigger({ function_id: 'engine::log::info', payload: { message: 'by engine::log' } });
    await svc.trigger({ function_id: nested });
    throw new Error('the box is closed');
  });
  await Promise.all([nested.ready(), mail.ready()]);
  const { messageReceiptId: job } = await svc.trigger({
    function_id: mail,
    payload: {},
    action: Enqueue({ queue: 'mail' }),
  });
  svc.logger.info('of no job');
  const find = async (query: string): Promise<Found> =>
    await svc.trigger({ function_id: 'engine::logs::search', payload: { query, order: 'asc' } });
  const bodies = async (query: string) => (await find(query)).logs.map(({ body }) => body).sort();
  const ofJob = ['bought a stamp', 'by ctx.logger', 'by engine::log', 'by svc.logger'];
  await waitFor('all records are stored', async () => (await bodies('worker="post office"')).length === 5);
  expect(await bodies(`job="${job}"`)).toEqual(ofJob);
  expect(await bodies('worker="post office"')).toEqual([...ofJob, 'of no job']);
  expect(await bodies('function=mail::send')).toEqual(ofJob.slice(1));
});

test("[LOG-4] The engine's warning of a failed request has the trace id of the request", async () => {
  await using engine = await startHttpEngine();
  const svc = connectTo(engine.url);
  const fail = svc.registerFunction('api::fail', async () => {
    throw new Error('no shelf');
  });
  await svc
    .registerTrigger({ type: 'http', function_id: fail, config: { api_path: '/fail', http_method: 'GET' } })
    .ready();
  const { status } = await fetch(`${engine.httpUrl}/fail`);
  expect(status).toBe(500);
  const { logs } = await svc.trigger<unknown, Found>({
    function_id: 'engine::logs::search',
    payload: { query: '"answered with an error" function=api::fail' },
  });
  const traces: { spans: readonly { trace_id: string }[] } = await svc.trigger({
    function_id: 'engine::traces::list',
    payload: { name: 'GET /fail' },
  });
  expect(logs.map(({ trace_id }) => trace_id)).toEqual([traces.spans[0]?.trace_id]);
});
