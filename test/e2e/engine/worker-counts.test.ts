// The number of workers and the gauges of each, as the engine reports them.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { ask, type Fields } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

test('[modules 11.6] Two workers of one process are counted separately when they connect and leave', async () => {
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const [first, second] = [connect(engine.url), connect(engine.url)];
  await Promise.all([first.ready(), second.ready()]);
  const countsAre = async (spawns: number, deaths: number) => {
    await waitFor(`${spawns} came and ${deaths} left`, async () => {
      const { engine_metrics: metrics } = await ask(raw, 'engine::metrics::list');
      const counts = { spawns, deaths, active: spawns - deaths };
      return JSON.stringify((metrics as { workers: unknown }).workers) === JSON.stringify(counts);
    });
  };
  await countsAre(2, 0);
  await second.shutdown();
  await countsAre(2, 1);
});

test('[modules 10.3] The record of a worker shows the gauges that it sent of its process', async () => {
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const svc = connect(engine.url);
  await svc.ready();
  const row = await waitFor('its gauges have arrived', async () => {
    const { workers: rows } = await ask(raw, 'engine::workers::list', { worker_id: svc.id });
    const [found] = rows as Fields[];
    return found?.latest_metrics !== null && found;
  });
  expect(row.latest_metrics).toEqual({
    memory_heap_used: expect.any(Number),
    memory_heap_total: expect.any(Number),
    memory_rss: expect.any(Number),
    memory_external: expect.any(Number),
    cpu_user_micros: expect.any(Number),
    cpu_system_micros: expect.any(Number),
    cpu_percent: expect.any(Number),
    event_loop_lag_ms: expect.any(Number),
    uptime_seconds: expect.any(Number),
    timestamp_ms: expect.any(Number),
    runtime: row.runtime,
  });
});
