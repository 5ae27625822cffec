// Forged telemetry of a restricted connection: it must not displace the telemetry of trusted workers.

import { expect, test } from 'vitest';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { ask, OBSERVED } from '../support/telemetry/observability-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage } from './restricted-page.ts';

const YEAR_2500 = '16725225600000000000';
/** More than the log store keeps. */
const FORGED = 1_500;

test('Log records of the year 2500 do not displace later records of trusted workers', async () => {
  await using engine = await startEngine();
  await using trusted = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const times = { timeUnixNano: YEAR_2500, observedTimeUnixNano: YEAR_2500 };
  const logRecords = Array.from({ length: FORGED }, () => ({ ...times, body: { stringValue: 'forged' } }));
  page.sendBinary(frameOf('LOGS', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }));
  await waitFor(
    'the forged records are stored',
    async () => Number((await ask(trusted, 'engine::logs::list', {})).total) >= 1_000,
  );
  await trusted.call('engine::log::error', { message: 'the cellar is under water' });
  const found = await waitFor('the record of the trusted worker is stored', async () => {
    const { logs } = await ask(trusted, 'engine::logs::search', { query: 'cellar' });
    return Array.isArray(logs) && logs[0];
  });
  expect(found).toMatchObject({ body: 'the cellar is under water' });
  const { logs } = await ask(trusted, 'engine::logs::search', { query: 'forged', limit: 1 });
  expect(Object(logs)[0].timestamp_unix_nano / 1e6).toBeLessThan(Date.now() + 1_000);
});

test('A metric of the year 2500 does not hide later metrics of the worker that it names', async () => {
  await using engine = await startEngine();
  await using trusted = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  page.sendBinary(gauge(1_000, YEAR_2500));
  const listed = async () =>
    JSON.stringify(await ask(trusted, 'engine::metrics::list', { metric_name: 'cellar.water' }));
  await waitFor('the forged metric is stored', async () => (await listed()).includes('1000'));
  trusted.sendBinary(gauge(7, String(Date.now() * 1e6)));
  await waitFor('the metric of the worker is stored', async () => (await listed()).includes('"value":7'));
  expect(await listed()).not.toContain('16725225');
});

function gauge(asDouble: number, timeUnixNano: string): Buffer {
  const attributes = [{ key: 'service.name', value: { stringValue: 'cellar' } }];
  const metrics = [{ name: 'cellar.water', gauge: { dataPoints: [{ asDouble, timeUnixNano }] } }];
  return frameOf('MTRC', { resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics }] }] });
}

function frameOf(kind: 'LOGS' | 'MTRC', request: object): Buffer {
  return Buffer.from(kind + JSON.stringify(request));
}

function startEngine(): Promise<TestEngine> {
  return startTestEngine({ yaml: `${OBSERVED}  - {name: svc-worker-manager, config: {port: 0, rbac: {}}}\n` });
}
