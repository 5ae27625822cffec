// The cost of the telemetry thread for the router thread, which feeds and asks it: the delay of the event loop while
// metric points are rolled up and while lists of traces are answered. Also the time of each filter of a list.
//
//   node bench/load/telemetry-store.ts [points] [spans]

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { checkValue } from '../../src/core/config-fields/fields-check.ts';
import type { TelemetryBatch } from '../../src/core/telemetry/records/intake.ts';
import { OpenSpan, STATUS, writeRow } from '../../src/core/telemetry/spans/span-rows.ts';
import { systemClock } from '../../src/effects/clock.ts';
import { createLogger } from '../../src/effects/logger.ts';
import { createOwnThread } from '../../src/effects/threads/pool.ts';
import { otelConfig } from '../../src/modules/observability/config.ts';
import { resolveTelemetry } from '../../src/modules/observability/settings.ts';
import { TelemetryClient } from '../../src/telemetry/client.ts';

const [points = 1_000_000, spans = 100_000] = process.argv.slice(2).map(Number);
const POINTS_PER_FRAME = 5_000;
const SPANS_PER_BATCH = 1_024;
const ROUNDS = 20;

const LIST = 'engine::traces::list';
const FILTERS: Readonly<Record<string, object>> = {
  none: {},
  name: { name: 'SHOP::F7' },
  service: { service_name: 'v' },
  status: { status: 'error' },
  duration: { min_duration_ms: 5, max_duration_ms: 90 },
  time: { start_time: 1, end_time: Date.now() + 1e6 },
  attributes: { attributes: [['tenant', 't3']] },
  'all spans': { name: 'f7', attributes: [['tenant', 't3']], search_all_spans: true },
  'by duration': { sort_by: 'duration', sort_order: 'desc', limit: 1000 },
  'by name, deep': { sort_by: 'name', offset: 50_000, limit: 100 },
};

const NOTHING: TelemetryBatch = {
  ...{ spanRows: [], logs: [], frames: [], payloads: [], goneSources: [], calls: [], jobs: [] },
  workers: { spawns: 0, deaths: 0 },
};

const client = startClient();
await measureRollup();
await measureLists();
await client.stop();

async function measureRollup(): Promise<void> {
  const frames = Array.from({ length: Math.ceil(points / POINTS_PER_FRAME) }, (_, at) => metricFrame(at));
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const startMs = performance.now();
  for (const bytes of frames) await feed({ ...NOTHING, frames: [{ kind: 'MTRC', source: 1, bytes }] });
  const { rollups } = await ask('engine::rollups::list', { level: 0, start_time: 1 });
  loop.disable();
  const counted = rollups.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  const seconds = (performance.now() - startMs) / 1_000;
  process.stdout.write(`| rolled up | of | seconds | loop delay p99 | worst |\n|---|---|---|---|---|\n`);
  const row = [counted, points, seconds.toFixed(1), ...delays(loop)];
  process.stdout.write(`| ${row.join(' | ')} |\n\n`);
}

async function measureLists(): Promise<void> {
  for (let at = 0; at < spans; at += SPANS_PER_BATCH) await feed({ ...NOTHING, spanRows: spanRows(at) });
  process.stdout.write('| filter | found | p50 | worst | loop delay p99 | worst |\n|---|---|---|---|---|---|\n');
  for (const [name, payload] of Object.entries(FILTERS)) {
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const times: number[] = [];
    let found = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const startMs = performance.now();
      const answer = await client.ask(LIST, Buffer.from(JSON.stringify(payload)), nothingGathered);
      times.push(performance.now() - startMs);
      if (round === 0) found = parse(answer).total;
    }
    loop.disable();
    times.sort((a, b) => a - b);
    const row = [name, found, ms(times[ROUNDS / 2]), ms(times.at(-1)), ...delays(loop)];
    process.stdout.write(`| ${row.join(' | ')} |\n`);
  }
}

function startClient(): TelemetryClient {
  const config = { enabled: true, exporter: 'memory', metrics_enabled: true, memory_max_spans: 1_000_000 };
  const checked = checkValue(otelConfig, { ...config, memory_max_bytes: 4 * 1024 ** 3 });
  if (!checked.ok) throw new Error('The configuration of this benchmark is wrong');
  const service = { serviceName: 'svc', engineVersion: '0', resource: { 'service.name': 'svc' } };
  const settings = resolveTelemetry(checked.value, {});
  const write = (line: string) => process.stderr.write(`${line}\n`);
  const started = new TelemetryClient({
    options: () => ({ settings, service, exporter: undefined, console: undefined }),
    markKey: () => 'key of this benchmark',
    isForMemoryOnly: true,
    createThread: () => createOwnThread('telemetry'),
    createRollupThread: () => createOwnThread('rollups'),
    clock: systemClock,
    logger: createLogger({ level: 'warn', format: 'default', clock: systemClock, write }),
    wantedLogs: () => ({ levels: [], ratio: 1 }),
    fireLogs: () => {},
    dropped: () => {},
    noteGauges: () => {},
  });
  started.start();
  return started;
}

/** Like the collector, this sends nothing while the limit of unanswered batches is reached. */
async function feed(batch: TelemetryBatch): Promise<void> {
  while (client.isFull) await new Promise((resolve) => setImmediate(resolve));
  client.take(batch);
}

/** The batches are sent as they come. */
function nothingGathered(): void {}

async function ask(functionId: string, payload: object) {
  // The answer comes after all batches on the telemetry thread, and after all that it passes on.
  await client.ask('engine::metrics::list', Buffer.from('{}'), nothingGathered);
  return parse(await client.ask(functionId, Buffer.from(JSON.stringify(payload)), nothingGathered));
}

function parse(answer: unknown) {
  if (!(answer instanceof ArrayBuffer)) throw new Error(`The thread refused: ${JSON.stringify(answer)}`);
  return JSON.parse(Buffer.from(answer).toString());
}

function metricFrame(frame: number): Uint8Array {
  const nowNano = `${Date.now()}000000`;
  const dataPoints = Array.from({ length: POINTS_PER_FRAME }, (_, at) => ({
    asDouble: (frame * POINTS_PER_FRAME + at) % 977,
    timeUnixNano: nowNano,
    attributes: [{ key: 'shard', value: { stringValue: `${at % 50}` } }],
  }));
  const metrics = [{ name: `bench.${frame % 20}`, unit: '1', gauge: { dataPoints } }];
  return new Uint8Array(Buffer.from(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })));
}

/** A root and a child for each trace. */
function spanRows(first: number): (string | number)[] {
  const rows: (string | number)[] = [];
  for (let at = first; at < Math.min(first + SPANS_PER_BATCH, spans); at++) {
    const traceId = (at >> 1).toString(16).padStart(32, '0');
    const id = at.toString(16).padStart(16, '0');
    const parent = at % 2 === 0 ? '' : (at - 1).toString(16).padStart(16, '0');
    const name = `shop::f${(at >> 1) % 40}`;
    const span = new OpenSpan(traceId, id, parent, `call ${name}`, name, '', at / 10);
    span.add('tenant', `t${at % 11}`);
    span.endedMs = span.startedMs + (at % 101);
    span.status = at % 17 === 0 ? STATUS.error : STATUS.ok;
    writeRow(rows, rows.length, span, Date.now() - 60_000);
  }
  return rows;
}

function delays(loop: { percentile(share: number): number; readonly max: number }): string[] {
  // The sampler waits for a millisecond.
  return [loop.percentile(99) / 1e6 - 1, loop.max / 1e6 - 1].map(ms);
}

function ms(value: number | undefined): string {
  return `${(value ?? 0).toFixed(2)} ms`;
}
