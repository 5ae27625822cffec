// An engine that exports: what a collector receives, and what the engine reports without a collector.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { startOtlpReceiver } from '../../support/telemetry/otlp-receiver.ts';
import { waitFor } from '../../support/wait-for.ts';

function yaml(endpoint: string): string {
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - name: svc-observability
    config:
      {enabled: true, exporter: both, logs_exporter: both, logs_flush_interval_ms: 50, metrics_enabled: true,
       metrics_exporter: otlp, endpoint: "${endpoint}", timeout_ms: 500}
`;
}

describe('an engine that exports by OTLP', () => {
  test('sends spans, logs, and its own metrics when it stops', { timeout: 40_000 }, async () => {
    await using receiver = await startOtlpReceiver('grpc');
    const engine = await startTestEngine({ yaml: yaml(receiver.url) });
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('orders::create', () => 1);
    await worker.call('orders::create', {});
    await worker.call('engine::log::warn', { message: 'stock is low' });
    await waitFor('span and log have arrived', () => receiver.spans.length > 0 && receiver.logs.length > 0, 20_000);
    expect(receiver.spans.map(({ name }) => name)).toContain('call orders::create');
    expect(receiver.logs.map(({ body }) => body.stringValue)).toContain('stock is low');
    await engine.drain();
    expect(receiver.metrics.map(({ name }) => name)).toContain('svc.invocations.total');
  });

  test('[O2] is degraded without a collector, logs that once, and logs once when it recovers', {
    timeout: 60_000,
  }, async () => {
    const gone = await startOtlpReceiver('grpc');
    const { port, url } = gone;
    await gone[Symbol.asyncDispose]();
    await using engine = await startTestEngine({ yaml: yaml(url) });
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('orders::create', () => 1);
    const calls = async () => await worker.call('orders::create', {});
    expect(await calls()).toMatchObject({ result: 1 });
    const lines = (text: string) => engine.log.filter((line) => line.includes(text) && line.includes('spans')).length;
    await waitFor('the failure is logged', () => lines('cannot be exported') > 0, 20_000);
    const { result } = await worker.call('engine::health::check', {});
    expect(result).toMatchObject({ status: 'degraded' });
    await using receiver = await startOtlpReceiver('grpc', port);
    await waitFor('the kept span arrives', () => receiver.spans.length > 0, 30_000);
    await waitFor('the recovery is logged', () => lines('exported again') > 0, 20_000);
    expect([lines('cannot be exported'), lines('exported again')]).toEqual([1, 1]);
    expect(await calls()).toMatchObject({ result: 1 });
  });
});
