// `/metrics` of a real engine, parsed as Prometheus parses it.

import { describe, expect, test } from 'vitest';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { enqueue, receiptOf } from '../../support/stores/queue-engine.ts';
import { parsePrometheus } from '../../support/telemetry/prometheus-text.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('/metrics', () => {
  test('[PD-59] counts calls by function and outcome', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('orders::create', () => ({ made: true }));
    await worker.call('orders::create', {});
    await worker.call('orders::create', {});
    const families = await waitFor('both calls are counted', async () => {
      const read = parsePrometheus((await ask(engine, '/metrics')).text);
      const samples = read.get('svc_invocations_total')?.samples ?? [];
      const mine = samples.find(({ labels }) => labels.function_id === 'orders::create');
      return mine?.value === 2 && read;
    });
    expect(families.get('svc_invocations_total')).toMatchObject({ type: 'counter' });
    const duration = families
      .get('svc_invocation_duration')
      ?.samples.filter(({ labels }) => labels.function_id === 'orders::create');
    expect(duration?.find(({ name }) => name.endsWith('_count'))).toMatchObject({ value: 2, labels: { status: 'ok' } });
    expect(duration?.find(({ labels }) => labels.le === '+Inf')).toMatchObject({ value: 2 });
    expect(families.get('svc_workers_active')?.samples).toMatchObject([{ value: 1 }]);
    const health = families.get('svc_module_health')?.samples ?? [];
    expect(health.find(({ labels }) => labels.module === 'svc-http')).toMatchObject({ value: 0 });
    expect(families.get('svc_process_resident_memory_bytes')?.samples[0]?.value).toBeGreaterThan(1_000_000);
  });

  test('[Q7] shows the number of jobs of a queue that wait for a worker', async () => {
    const queues = '  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}\n';
    const ports = '  - {name: svc-worker-manager, config: {port: 0}}\n  - {name: svc-http, config: {port: 0}}\n';
    const { urls, ...engine } = await startTestEngine({ yaml: `drain_timeout_ms: 100\nworkers:\n${ports}${queues}` });
    await using _ending = engine;
    await using worker = await RawWorker.connect(engine.url);
    const httpPort = Number(new URL(urls.find((url) => url.startsWith('http:')) ?? '').port);
    for (const n of [1, 2]) await receiptOf(enqueue(worker, 'absent', n));
    await waitFor('both are shown', async () => {
      const read = parsePrometheus((await ask({ httpPort }, '/metrics')).text);
      const [sample] = read.get('svc_queue_waiting_for_worker')?.samples ?? [];
      return sample?.labels.queue === 'default' && sample.value === 2;
    });
  });

  test('[O1] counts dropped telemetry by kind and reason', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    worker.sendBinary(Buffer.from('LOGSnot json'));
    const dropped = await waitFor('it is counted', async () => {
      const read = parsePrometheus((await ask(engine, '/metrics')).text);
      return read.get('svc_telemetry_dropped_total')?.samples.find(({ labels }) => labels.kind === 'logs');
    });
    expect(dropped).toMatchObject({ labels: { reason: expect.stringMatching(/./) }, value: 1 });
  });

  test('[X4] is answered to this machine, and to others with the token', async () => {
    await using engine = await startHttpEngine('', { top: 'bridge_token: "s3cret-s3cret-s3cret-s3cret-s3cret"' });
    const forwarded = { 'x-forwarded-for': '203.0.113.7' };
    expect(await ask(engine, '/metrics')).toMatchObject({ status: 200 });
    expect(await ask(engine, '/metrics', { headers: forwarded })).toMatchObject({ status: 401 });
    const wrong = { ...forwarded, authorization: 'Bearer wrong' };
    expect(await ask(engine, '/metrics', { headers: wrong })).toMatchObject({ status: 401 });
    const right = { ...forwarded, host: 'engine.internal', authorization: 'Bearer s3cret-s3cret-s3cret-s3cret-s3cret' };
    expect(await ask(engine, '/metrics', { headers: right })).toMatchObject({ status: 200 });
  });

  test('[X3] is refused under an unknown host name', async () => {
    await using engine = await startHttpEngine();
    expect(await ask(engine, '/metrics', { headers: { host: 'rebound.example' } })).toMatchObject({ status: 403 });
  });

  test('[PD-59] is replaced by a route of that path, with a warning', async () => {
    await using engine = await startHttpEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('own::metrics', () => ({ body: 'mine' }));
    const config = { api_path: '/metrics', http_method: 'GET' };
    worker.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'own::metrics', config });
    await worker.settled();
    expect((await ask(engine, '/metrics')).text).toContain('mine');
    expect(engine.log.join('\n')).toContain('replaces a path of the engine');
  });
});
