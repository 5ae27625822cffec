import { withEngine } from '../../engine/connection.ts';
import { timeRangeFlags } from '../../engine/listing.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { formatTime } from '../../text/times.ts';
import { timeRange } from './trace-list.ts';

const FLAGS = {
  ...timeRangeFlags('measurements'),
  interval: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '1m',
    maxMs: 24 * 3_600_000,
    help: 'With a name: time per line, in whole seconds.',
  },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type MetricsContext = Context<typeof FLAGS>;

const HOUR_MS = 3_600_000;

export const metrics = defineCommand({
  name: 'metrics',
  summary: 'Show the metrics of the engine and of workers.',
  operands: {
    usage: '[name]',
    min: 0,
    max: 1,
    help: 'One metric of a worker over time, by default of the last hour. Without it, the current values of all.',
  },
  flags: FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc metrics', shows: 'Calls, workers, durations, and the last values of workers.' },
    { line: 'svc metrics svc.worker.cpu.percent --interval 10s', shows: 'One metric over time.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [name] = context.operands;
    if (name === undefined) await showAll(context);
    else await showOne(context, name);
    return EXIT.done;
  },
});

interface MetricRow {
  readonly name: string;
  readonly service: string;
  readonly type: string;
  readonly unit: string;
  readonly value: number;
  /** The number of label sets, or points, that the value combines. */
  readonly points: number;
}

async function showAll(context: MetricsContext): Promise<void> {
  const { flags, output, terminal } = context;
  const range = timeRange(flags, terminal.now());
  const answer = await withEngine(context, (engine) => engine.call('engine::metrics::list', range));
  const rows = [...engineRows(answer), ...recordsIn(answer, 'sdk_metrics').map(workerRow)];
  output.printRows({ columns: ALL_COLUMNS, rows, records: rows });
  if (recordsIn(answer, 'sdk_metrics').length === 0) output.note('No worker has sent metrics.');
}

/** Under the names that alert rules use (modules 11.7). */
function engineRows(answer: unknown): MetricRow[] {
  const engineMetrics = isRecord(answer) && isRecord(answer.engine_metrics) ? answer.engine_metrics : {};
  const groups = [
    ['invocations', ['total', 'success', 'error', 'deferred'], 'counter', '1'],
    ['workers', ['active', 'spawns', 'deaths'], 'counter', '1'],
    ['performance', ['avg_duration_ms', 'p50_duration_ms', 'p95_duration_ms', 'p99_duration_ms'], 'gauge', 'ms'],
    ['performance', ['min_duration_ms', 'max_duration_ms'], 'gauge', 'ms'],
  ] as const;
  return groups.flatMap(([group, names, type, unit]) => {
    const record = isRecord(engineMetrics[group]) ? engineMetrics[group] : {};
    return names.flatMap((name) => {
      const value = numberIn(record, name);
      if (value === undefined) return [];
      const isGauge = name === 'active';
      return [{ name: `svc.${group}.${name}`, service: 'svc', type: isGauge ? 'gauge' : type, unit, value, points: 1 }];
    });
  });
}

function workerRow(metric: JsonRecord): MetricRow {
  const points = recordsIn(metric, 'data_points');
  const newest = points.reduce<JsonRecord>(
    (best, point) =>
      (numberIn(point, 'timestamp_unix_nano') ?? 0) >= (numberIn(best, 'timestamp_unix_nano') ?? 0) ? point : best,
    {},
  );
  return {
    name: textIn(metric, 'name'),
    service: textIn(metric, 'service_name'),
    type: textIn(metric, 'metric_type'),
    unit: textIn(metric, 'unit'),
    value: numberIn(newest, 'value') ?? numberIn(newest, 'count') ?? 0,
    points: points.length,
  };
}

const ALL_COLUMNS: readonly Column<MetricRow>[] = [
  { name: 'name', cut: 'middle', text: (row) => row.name },
  { name: 'value', align: 'right', text: (row) => shortNumber(row.value), raw: (row) => String(row.value) },
  { name: 'unit', text: (row) => row.unit },
  { name: 'type', text: (row) => row.type },
  { name: 'service', cut: 'end', text: (row) => row.service },
  { name: 'points', align: 'right', wideOnly: true, text: (row) => String(row.points) },
];

async function showOne(context: MetricsContext, name: string): Promise<void> {
  const { flags, output, terminal } = context;
  const seconds = flags.interval / 1_000;
  if (!Number.isInteger(seconds)) throw usageFailure(`--interval is ${flags.interval}ms: expected whole seconds.`);
  const nowMs = terminal.now();
  const answer = await withEngine(context, (engine) =>
    engine.call('engine::metrics::list', {
      metric_name: name,
      end_time: nowMs,
      start_time: nowMs - HOUR_MS,
      ...timeRange(flags, nowMs),
      aggregate_interval: seconds,
    }),
  );
  const buckets = recordsIn(answer, 'aggregated_metrics').map(readBucket);
  if (buckets.length === 0 && recordsIn(answer, 'sdk_metrics').length === 0) {
    throw new CliFailure({
      code: 'NOT_FOUND',
      message: `No worker has sent the metric '${name}' in that time.`,
      exitCode: EXIT.notFound,
      hint: 'List all metrics with: svc metrics',
      details: { metric_name: name },
    });
  }
  const most = Math.max(0, ...buckets.map(({ avg }) => Math.abs(avg)));
  output.printRows({ columns: bucketColumns(context, most), rows: buckets, records: buckets });
  if (buckets.length === 0)
    output.note('The metric is a histogram. Get its buckets over time with: engine::rollups::list');
}

interface Bucket {
  readonly start: string;
  readonly count: number;
  readonly avg: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly p95: number | null;
}

function readBucket(bucket: JsonRecord): Bucket {
  const number = (name: string) => numberIn(bucket, name) ?? 0;
  const percentiles = isRecord(bucket.percentiles) ? bucket.percentiles : {};
  return {
    start: new Date(Math.floor(number('bucket_start_ns') / 1e6)).toISOString(),
    count: number('count'),
    avg: number('avg'),
    min: number('min'),
    max: number('max'),
    sum: number('sum'),
    p95: numberIn(percentiles, 'p95') ?? null,
  };
}

const TREND_COLUMNS = 24;

function bucketColumns({ output, terminal }: MetricsContext, most: number): readonly Column<Bucket>[] {
  const nowMs = terminal.now();
  const figure = (name: 'avg' | 'min' | 'max' | 'sum', wideOnly = false): Column<Bucket> => ({
    name,
    align: 'right',
    wideOnly,
    text: (row) => shortNumber(row[name]),
    raw: (row) => String(row[name]),
  });
  return [
    {
      name: 'start',
      text: (row) => formatTime(Date.parse(row.start), output.timeStyle, nowMs),
      raw: (row) => row.start,
    },
    { name: 'count', align: 'right', text: (row) => String(row.count) },
    figure('avg'),
    figure('min'),
    figure('max'),
    { name: 'p95', align: 'right', text: (row) => (row.p95 === null ? '' : shortNumber(row.p95)) },
    figure('sum', true),
    ...(terminal.out.isTerminal && output.format === 'table' ? [trend(most)] : []),
  ];
}

/** The average, relative to the largest one. */
function trend(most: number): Column<Bucket> {
  return {
    name: 'trend',
    text: ({ avg }) => '█'.repeat(most === 0 ? 0 : Math.max(1, Math.round((Math.abs(avg) / most) * TREND_COLUMNS))),
  };
}

/** Four significant digits for large and small numbers. */
function shortNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  return Math.abs(value) >= 10_000 ? String(Math.round(value)) : String(Number(value.toPrecision(4)));
}
