import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { registerWorker } from 'svc-sdk';
import { startEngine } from 'svc-sdk/testing';
import { register } from '../workers/report/functions.ts';

// A real engine of this test's own, in memory and on free ports.
const engine = await startEngine();
const svc = registerWorker(engine.url, { handle_signals: false, stream_url: engine.stream_url });
register(svc);
await svc.ready();
after(async () => {
  await svc.shutdown();
  await engine.stop();
});

test('the report holds the visits that were counted', async () => {
  for (let visits = 0; visits < 3; visits++) {
    assert.equal((await fetch(`${engine.http_url}/visits`, { method: 'POST' })).status, 204);
  }
  await svc.trigger({ function_id: 'report::build', payload: { scheduled_time: '2026-01-01T00:00:00Z' } });
  const report: unknown = await (await fetch(`${engine.http_url}/report`)).json();
  assert.deepEqual(report, { built_at: '2026-01-01T00:00:00Z', visits: 3 });
});
