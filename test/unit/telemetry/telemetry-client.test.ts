import { expect, test } from 'vitest';
import type { TelemetryBatch } from '../../../src/core/telemetry/records/intake.ts';
import type { LogRecord } from '../../../src/core/telemetry/records/records.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { createOwnThread } from '../../../src/effects/threads/pool.ts';
import { WITHOUT_ENTRY } from '../../../src/modules/observability/config.ts';
import { resolveTelemetry } from '../../../src/modules/observability/settings.ts';
import { type RollupThread, TelemetryClient, type TelemetryThread } from '../../../src/telemetry/client.ts';
import type { BatchAnswer } from '../../../src/telemetry/tasks.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

const BATCH: TelemetryBatch = {
  ...{ spanRows: [], payloads: [], logs: [], frames: [], goneSources: [], calls: [], jobs: [] },
  workers: { spawns: 0, deaths: 0 },
};
const BATCH_ANSWER: BatchAnswer = {
  ...{ dropped: [], firings: [], points: undefined, gauges: [], exports: {}, exportChanges: [] },
  stored: { spans: 0, logs: 0, metrics: 0 },
};
const LINE: LogRecord = {
  ...{ timestamp_unix_nano: 1, observed_timestamp_unix_nano: 1, severity_number: 9, severity_text: 'INFO' as const },
  ...{ body: 'svc is running', attributes: {}, trace_id: null, span_id: null, service_name: 'svc' },
  ...{ resource: { 'service.name': 'svc' }, instrumentation_scope_name: 'svc' },
};
const ENDED: RollupThread = { run: () => Promise.reject(new Error('it ended')), close: async () => {} };

function clientOf(createThread: () => TelemetryThread, lines: string[] = [], clock = new FakeClock()): TelemetryClient {
  const logger = createLogger({ level: 'debug', format: 'default', clock, write: (line) => lines.push(line) });
  return new TelemetryClient({
    options: () => ({
      settings: resolveTelemetry(WITHOUT_ENTRY, {}),
      service: { serviceName: 'svc', engineVersion: '0.0.0', resource: {} },
      exporter: undefined,
      console: undefined,
    }),
    markKey: () => 'key of this test',
    isForMemoryOnly: true,
    createThread,
    createRollupThread: () => ENDED,
    wantedLogs: () => ({ levels: [], ratio: 1 }),
    fireLogs: () => {},
    dropped: () => {},
    noteGauges: () => {},
    ...{ clock, logger },
  });
}

test('[O1] a question to an overloaded thread waits until the records before it can be sent', async () => {
  const tasks: string[] = [];
  const answers: (() => void)[] = [];
  const client = clientOf(() => ({
    run: (task) => {
      tasks.push(task.kind);
      return new Promise((resolve) => {
        answers.push(() => resolve(task.kind === 'batch' ? BATCH_ANSWER : new ArrayBuffer(0)));
      });
    },
    close: async () => {},
  }));
  client.start();
  while (!client.isFull) client.take(BATCH);
  const asked = client.ask('engine::logs::histogram', undefined, () => client.take(BATCH));
  await Promise.resolve();
  expect(tasks).not.toContain('ask');
  for (const answer of answers) answer();
  await expect.poll(() => tasks.slice(-2)).toEqual(['batch', 'ask']);
  for (const answer of answers) answer();
  expect(await asked).toBeInstanceOf(ArrayBuffer);
});

test('[O1] a rollup thread that has ended is an error for the caller, not for the engine', async () => {
  const lines: string[] = [];
  const client = clientOf(() => createOwnThread('telemetry', true), lines);
  expect(await client.ask('engine::rollups::list', undefined, () => {})).toMatchObject({
    error: { code: 'STORAGE_UNAVAILABLE' },
  });
  expect(client.failures).toBe(1);
  expect(lines.join('\n')).toContain('Rolled up metrics could not be read');
  await client.stop();
});

function countingTasks() {
  const clock = new FakeClock();
  const tasks: string[] = [];
  const createThread = (): TelemetryThread => ({
    run: (task) => {
      tasks.push(task.kind);
      return new Promise(() => {});
    },
    close: async () => {},
  });
  const client = clientOf(createThread, [], clock);
  client.start();
  return { client, clock, tasks };
}

test('[O1] a log record of a worker starts the thread at once, which shows it on the console', () => {
  const { client, tasks } = countingTasks();
  client.take({ ...BATCH, logs: [LINE, { ...LINE, service_name: 'shop' }] });
  expect(tasks).toEqual(['open', 'batch']);
});

test('[O1] the thread starts with the first calls, a second later, and not for log lines of the engine', () => {
  const { client, clock, tasks } = countingTasks();
  client.take({ ...BATCH, logs: [LINE] });
  clock.advance(60_000);
  expect(tasks).toEqual([]);
  client.take({ ...BATCH, workers: { spawns: 1, deaths: 0 } });
  expect(tasks).toEqual([]);
  clock.advance(1_000);
  expect(tasks).toEqual(['open', 'batch', 'batch']);
});
