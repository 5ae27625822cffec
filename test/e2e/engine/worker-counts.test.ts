// How many workers there are, and how each is doing, as the engine tells of it.

import { afterEach, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { ask, type Fields } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const workers: SvcWorker[] = [];

function connect(engine: Pick<TestEngine, 'url'>, name: string): SvcWorker {
  const svc = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 100, worker_name: name });
  workers.push(svc);
  return svc;
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((svc) => svc.shutdown()));
});

test('[modules 11.6] Two workers of one process are two workers, and one when one has left', async () => {
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const [first, second] = [connect(engine, 'first'), connect(engine, 'second')];
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

test('[modules 10.3] A worker says how its process is doing, and its record shows it', async () => {
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const svc = connect(engine, 'measured');
  await svc.ready();
  const row = await waitFor('its gauges have come', async () => {
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
