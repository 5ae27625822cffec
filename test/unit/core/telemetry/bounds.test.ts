// What workers choose the names and the sizes of takes no more memory than its bound says.

import { expect, test } from 'vitest';
import { CallStats } from '../../../../src/core/telemetry/metrics/call-stats.ts';
import { EngineMetrics } from '../../../../src/core/telemetry/metrics/engine-metrics.ts';
import { RollupStore } from '../../../../src/core/telemetry/metrics/rollup.ts';
import { BatchOpener } from '../../../../src/core/telemetry/records/open-batch.ts';
import { recordBytes } from '../../../../src/core/telemetry/records/records.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { Observed } from '../../../support/telemetry/observed.ts';
import { logRecord } from '../../../support/telemetry/telemetry-records.ts';

const NO_WORKERS = { spawns: 0, deaths: 0 };
const MINUTE_MS = 60_000;

test('Error codes that differ with each batch are 50 of a function and one for all others', () => {
  const stats = new CallStats();
  const metrics = new EngineMetrics();
  for (let batch = 0; batch < 100; batch++) {
    for (let code = 0; code < 20; code++) stats.ended('f', 1, `E_${batch}_${code}_${'x'.repeat(1_000)}`);
    metrics.add(stats.take(), NO_WORKERS);
  }
  const [totals] = metrics.functionTotals();
  const codes = Object.keys(totals?.errors ?? {});
  expect(codes.length).toBe(51);
  expect(Math.max(...codes.map((code) => code.length))).toBeLessThanOrEqual(128);
  expect(Object.values(totals?.errors ?? {}).reduce((sum, count) => sum + count, 0)).toBe(2_000);
});

test('Names of attributes, and what lies deep within them, count as what they take', () => {
  const plain = recordBytes(logRecord({ attributes: {} }));
  expect(recordBytes(logRecord({ attributes: { ['k'.repeat(10_000)]: 1 } })) - plain).toBeGreaterThan(20_000);
  let deep: unknown = 'x'.repeat(10_000);
  for (let depth = 0; depth < 100; depth++) deep = [deep];
  expect(recordBytes(logRecord({ attributes: { deep } })) - plain).toBeGreaterThan(20_000);
});

test('Names within the resource of a frame are cut', () => {
  const resource = { attributes: [{ key: 'k'.repeat(100_000), value: { stringValue: 'v' } }] };
  const logRecords = [{ body: { stringValue: 'hello' } }];
  const { logs } = opener().open(batchOf('LOGS', { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }));
  expect(Object.keys(logs[0]?.resource ?? {}).map((key) => key.length)).toEqual([256]);
});

test('Spans that never end are watched up to a number of bytes, the newest of them', () => {
  const bytes = 1024 * 1024;
  const opened = opener();
  for (let id = 1; id <= 40; id++) opened.open(batchOf('OTLP', pendingSpan(id, bytes)));
  const lost = opened.open({ ...EMPTY, goneSources: [1] }).spans.map(({ span_id: id }) => Number.parseInt(id, 16));
  expect(lost.length).toBeGreaterThan(3);
  expect(lost.length).toBeLessThanOrEqual(16);
  expect(lost.at(-1)).toBe(40);
  // All of them are forgotten: their room is free again.
  for (let id = 1; id <= 5; id++) opened.open(batchOf('OTLP', pendingSpan(id, bytes)));
  expect(opened.open({ ...EMPTY, goneSources: [1] }).spans.length).toBe(5);
});

test('Histograms of any number of buckets are rolled up within one bound; what is over it is counted', () => {
  const drops: string[] = [];
  const store = new RollupStore((reason) => drops.push(reason), 10_000);
  const bounds = Array.from({ length: 999 }, (_, at) => at);
  const bucketCounts = [...bounds, 1];
  const counts = { count: 1, sum: 1, min: undefined, max: undefined, bucketCounts, explicitBounds: bounds };
  for (let name = 0; name < 5; name++) store.addHistogram(`name ${name}`, 0, counts, 0);
  // Three levels of 1 999 numbers each: one metric, and two levels of the next.
  expect(store.bucketCount).toBe(5);
  expect(new Set(drops)).toEqual(new Set(['limit']));
  expect(drops.length).toBe(10);
  // What is there goes on being counted, and leaves room when it is old.
  store.addHistogram('name 0', 0, counts, 0);
  expect(drops.length).toBe(10);
  const weekMs = 8 * 24 * 60 * MINUTE_MS;
  store.expire(weekMs);
  expect(store.bucketCount).toBe(0);
  store.addHistogram('later', weekMs, counts, weekMs);
  expect(store.bucketCount).toBe(3);
});

test('Connections that leave while the telemetry thread takes nothing are remembered up to a number', () => {
  const engine = new EngineInMemory();
  const observed = new Observed(engine);
  observed.isFull = true;
  for (let source = 1; source <= 70_000; source++) observed.collector.sourceLeft(source);
  observed.isFull = false;
  observed.collector.flush();
  expect(observed.batches.flatMap(({ goneSources }) => goneSources).length).toBe(65_536);
  expect(observed.drops.length).toBe(70_000 - 65_536);
});

const EMPTY = { spanRows: [], logs: [], frames: [], goneSources: [], calls: [], workers: NO_WORKERS };

function opener(): BatchOpener {
  const facts = { serviceName: 'svc', engineVersion: '0.0.0', resource: {} };
  return new BatchOpener({
    facts,
    logsRatio: () => 1,
    isQuiet: () => false,
    nowMs: () => 1,
    token: () => 'a'.repeat(32),
  });
}

function batchOf(kind: 'LOGS' | 'OTLP', request: unknown) {
  return { ...EMPTY, frames: [{ kind, source: 1, bytes: Buffer.from(JSON.stringify(request)) }] };
}

function pendingSpan(id: number, bytes: number) {
  const attributes = Array.from({ length: 100 }, (_, at) => ({
    key: `key ${at}`,
    value: { stringValue: 'x'.repeat(4_000) },
  }));
  const events = Array.from({ length: Math.floor(bytes / 2 / 400_000) }, () => ({ name: 'event', attributes }));
  const span = {
    traceId: 'a'.repeat(32),
    spanId: id.toString(16).padStart(16, '0'),
    name: 'endless',
    startTimeUnixNano: 1,
    attributes,
    events,
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
}
