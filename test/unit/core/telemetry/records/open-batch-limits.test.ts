// What workers send takes no more memory than the limits of a batch allow.

import { expect, test } from 'vitest';
import { BatchOpener } from '../../../../../src/core/telemetry/records/open-batch.ts';

const NO_WORKERS = { spawns: 0, deaths: 0 };

test('Names within the resource of a frame are cut', () => {
  const resource = { attributes: [{ key: 'k'.repeat(100_000), value: { stringValue: 'v' } }] };
  const logRecords = [{ body: { stringValue: 'hello' } }];
  const { logs } = opener().open(batchOf('LOGS', { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }));
  expect(Object.keys(logs[0]?.resource ?? {}).map((key) => key.length)).toEqual([256]);
});

test('Pending spans are limited by bytes, and the newest are kept', () => {
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

const EMPTY = {
  spanRows: [],
  logs: [],
  frames: [],
  payloads: [],
  goneSources: [],
  calls: [],
  jobs: [],
  workers: NO_WORKERS,
};

function opener(): BatchOpener {
  const service = { serviceName: 'svc', engineVersion: '0.0.0', resource: {} };
  return new BatchOpener({
    service,
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
