// The result of a benchmark: as text, as CSV, and compared with an earlier run.

import type { EngineUse } from './engine-watch.ts';
import type { LatencySummary } from './load.ts';

export interface Report {
  readonly kind: string;
  /** Everything that must be the same for two runs to be comparable. */
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly ops: number;
  readonly duration_ms: number;
  readonly per_second: number;
  readonly bytes_per_second: number;
  readonly clients: readonly { readonly client: number; readonly ops: number; readonly per_second: number }[];
  readonly latency: LatencySummary;
  readonly engine?: EngineUse;
  readonly errors: Readonly<Record<string, number>>;
  readonly interrupted: boolean;
}

/** What the report of an earlier run must contain to be compared. */
export interface EarlierReport {
  readonly kind: string;
  readonly per_second: number;
  readonly latency: Pick<LatencySummary, 'p50_ms' | 'p99_ms'>;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const MIB = 1024 * 1024;

export function reportText(report: Report): string {
  const { latency, errors, engine } = report;
  const settings = Object.entries({ ...report.parameters, ...report.machine }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
  const rates = report.clients.map((client) => client.per_second);
  return [
    `svc bench ${report.kind}  ${settings.join(' ')}${report.interrupted ? '  (interrupted)' : ''}`,
    `  total     ${whole(report.ops)} ops   ${whole(report.per_second)}/s   ` +
      `${(report.bytes_per_second / MIB).toFixed(1)} MiB/s   ${failed} errors`,
    `  clients   min ${whole(Math.min(...rates))}/s   max ${whole(Math.max(...rates))}/s`,
    `  latency   min ${ms(latency.min_ms)}  p50 ${ms(latency.p50_ms)}  p90 ${ms(latency.p90_ms)}  ` +
      `p99 ${ms(latency.p99_ms)}  p99.9 ${ms(latency.p999_ms)}  max ${ms(latency.max_ms)} ms  sd ${ms(latency.sd_ms)}`,
    ...(engine === undefined
      ? []
      : [`  engine    cpu ${engine.cpu_percent} %  rss ${whole(engine.rss_bytes / MIB)} MiB`]),
    ...Object.entries(errors).map(([code, count]) => `  errors    ${code} ${count}`),
  ].join('\n');
}

export function reportCsv({ clients, ops, per_second: perSecond }: Report): string {
  const rows = clients.map((client) => `${client.client},${client.ops},${client.per_second.toFixed(1)}`);
  return ['client,ops,per_second', ...rows, `total,${ops},${perSecond.toFixed(1)}`, ''].join('\n');
}

export interface Change {
  readonly name: string;
  readonly before: number;
  readonly now: number;
  /** Positive is better, for rates as for latencies. */
  readonly percent: number;
  readonly worse: boolean;
}

/** The rate, the median and the 99th percentile. */
export function compare(before: EarlierReport, now: Report, tolerancePercent: number): Change[] {
  return [
    change('per_second', before.per_second, now.per_second, 1, tolerancePercent),
    change('p50_ms', before.latency.p50_ms, now.latency.p50_ms, -1, tolerancePercent),
    change('p99_ms', before.latency.p99_ms, now.latency.p99_ms, -1, tolerancePercent),
  ];
}

/** Parameters that differ between the two runs. */
export function differencesOf(before: EarlierReport, now: Report): string[] {
  return Object.entries(now.parameters).flatMap(([name, value]) => {
    const earlier = before.parameters[name];
    return earlier === undefined || earlier === value ? [] : [`${name} was ${earlier} and is ${value}`];
  });
}

function change(name: string, before: number, now: number, better: 1 | -1, tolerancePercent: number): Change {
  const percent = before === 0 ? 0 : (better * (now - before) * 100) / before;
  return { name, before, now, percent, worse: percent < -tolerancePercent };
}

export function changesText(changes: readonly Change[]): string {
  return changes
    .map(({ name, before, now, percent, worse }) => {
      const text = percent >= 0 ? `${percent.toFixed(1)} % better` : `${(-percent).toFixed(1)} % worse`;
      return `  ${name.padEnd(10)}${before.toFixed(2)} -> ${now.toFixed(2)}   ${text}${worse ? '  <- too much' : ''}`;
    })
    .join('\n');
}

function whole(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en').replaceAll(',', ' ') : '0';
}

function ms(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(1);
}
