// The results of `svc check …`, compared with the thresholds of its flags (`--depth-warn`, `--depth-critical`) and
// reported with the levels of monitoring systems: 0 ok, 1 warning, 2 critical, 3 unknown (CLI-31).

import { prometheusText } from '../../../core/telemetry/metrics/prometheus.ts';
import type { Attributes, MetricRecord } from '../../../core/telemetry/records/records.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import type { Context } from '../../kernel/command.ts';
import { type ExitCode, toFailure } from '../../kernel/failures.ts';
import type { CONNECTION_FLAGS, CountFlag, DurationFlag } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import type { Format } from '../../text/output.ts';
import { formatDuration } from '../../text/times.ts';

const LEVELS = ['ok', 'warning', 'critical', 'unknown'] as const;
export type Level = (typeof LEVELS)[number];

export const MONITOR_FORMATS: readonly [Format, ...Format[]] = ['text', 'nagios', 'json', 'prometheus'];

/** A measured number. It is bad when it reaches `warn` or `critical`, or is below `atLeast`. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 'count';
  readonly warn?: number | undefined;
  readonly critical?: number | undefined;
  readonly atLeast?: number | undefined;
}

/** A result without a number. */
export interface Finding {
  readonly level: Level;
  readonly text: string;
}

export interface Verdict {
  readonly level: Level;
  readonly text: string;
  readonly measures: readonly Measure[];
}

type MonitorContext = Pick<Context<typeof CONNECTION_FLAGS>, 'flags' | 'output' | 'terminal'>;

/** Runs a check and prints the result. A failure is a result too: `unknown`, or the level of `down`. */
export async function monitor(
  context: MonitorContext,
  check: { readonly kind: string; readonly subject: string; readonly down?: Level },
  read: (engine: EngineConnection) => Promise<Verdict>,
): Promise<ExitCode> {
  let verdict: Verdict;
  try {
    verdict = await withEngine(context, read);
  } catch (error) {
    const { code, message } = toFailure(error).report;
    const level = code === 'ENGINE_UNREACHABLE' ? (check.down ?? 'unknown') : 'unknown';
    verdict = { level, text: message, measures: [] };
  }
  context.terminal.out.write(`${formatVerdict(check, verdict, context)}\n`);
  return exitCodeOf(verdict.level);
}

/** The worst level, with the reasons for it; `wellText` when all is fine. */
export function judge(findings: readonly Finding[], measures: readonly Measure[], wellText: string): Verdict {
  const all = [...findings, ...measures.map(judgeMeasure)];
  const level = all.map((finding) => finding.level).reduce(worse, 'ok');
  const reasons = all.filter((finding) => finding.level !== 'ok').sort((a, b) => rank(b.level) - rank(a.level));
  return { level, text: reasons.length === 0 ? wellText : reasons.map(({ text }) => text).join('; '), measures };
}

export function judgeMeasure(measure: Measure): Finding {
  const { name, value, warn, critical, atLeast } = measure;
  const shown = `${name} is ${amount(value, measure.unit)}`;
  if (atLeast !== undefined && value < atLeast) {
    return { level: 'critical', text: `${shown}, fewer than ${amount(atLeast, measure.unit)}` };
  }
  if (critical !== undefined && value >= critical) {
    return { level: 'critical', text: `${shown}, critical from ${amount(critical, measure.unit)}` };
  }
  if (warn !== undefined && value >= warn) {
    return { level: 'warning', text: `${shown}, warning from ${amount(warn, measure.unit)}` };
  }
  return { level: 'ok', text: shown };
}

function exitCodeOf(level: Level): ExitCode {
  return ({ ok: 0, warning: 1, critical: 2, unknown: 3 } as const)[level];
}

/** Unknown is less severe than critical, so that it does not hide a known outage. */
function rank(level: Level): number {
  return { ok: 0, warning: 1, unknown: 2, critical: 3 }[level];
}

function worse(a: Level, b: Level): Level {
  return rank(b) > rank(a) ? b : a;
}

function formatVerdict(
  { kind, subject }: { kind: string; subject: string },
  { level, text, measures }: Verdict,
  { output, terminal }: MonitorContext,
): string {
  // The subject keeps its case: a queue's name in capitals would name another queue.
  const title = stripUnsafe([kind, subject].filter((word) => word !== '').join(' '));
  const plain = stripUnsafe(text);
  switch (output.format) {
    case 'nagios':
      return `SVC ${title} ${level.toUpperCase()} - ${plain.replaceAll('|', '/')}${performanceData(measures)}`;
    case 'json':
      return JSON.stringify(documentOf(kind, subject, { level, text: plain, measures }));
    case 'prometheus':
      return prometheusText(metricsOf(kind, subject, { level, text, measures }, terminal.now())).trimEnd();
    default: {
      const paint = {
        ok: output.paintOut.green,
        warning: output.paintOut.yellow,
        critical: output.paintOut.red,
        unknown: output.paintOut.dim,
      };
      const numbers = measures.map(({ name, value, unit }) => `${name} ${amount(value, unit)}`).join(', ');
      const words = [
        paint[level](level.toUpperCase().padEnd(8)),
        title,
        numbers === '' ? plain : `${plain} (${numbers})`,
      ];
      return words.join('  ');
    }
  }
}

/** ` | rtt=3.2ms;50;200 depth=7;1000` */
function performanceData(measures: readonly Measure[]): string {
  if (measures.length === 0) return '';
  const parts = measures.map(({ name, value, unit, warn, critical, atLeast }) => {
    const low = atLeast === undefined ? (critical ?? '') : `${atLeast}:`;
    return `${name}=${round(value)}${unit === 'ms' ? 'ms' : ''};${warn ?? ''};${low}`.replace(/;+$/, '');
  });
  return ` | ${parts.join(' ')}`;
}

function documentOf(kind: string, subject: string, { level, text, measures }: Verdict) {
  return {
    check: kind,
    subject: subject === '' ? null : subject,
    status: level,
    code: LEVELS.indexOf(level),
    message: text,
    measures: measures.map((measure) => ({
      name: measure.name,
      value: round(measure.value),
      unit: measure.unit,
      warn: measure.warn ?? null,
      critical: measure.critical ?? null,
      at_least: measure.atLeast ?? null,
      status: judgeMeasure(measure).level,
    })),
  };
}

function metricsOf(kind: string, subject: string, { level, measures }: Verdict, nowMs: number): MetricRecord[] {
  const labels: Attributes = [['check', kind], ...(subject === '' ? [] : [['subject', subject] as const])];
  const gauge = (name: string, description: string, points: readonly (readonly [number, Attributes])[]) => ({
    name,
    description,
    unit: '',
    metric_type: 'gauge' as const,
    service_name: 'svc',
    timestamp_unix_nano: nowMs * 1e6,
    data_points: points.map(([value, attributes]) => ({ value, attributes, timestamp_unix_nano: nowMs * 1e6 })),
  });
  return [
    gauge('svc.check.status', '0 ok, 1 warning, 2 critical, 3 unknown', [[LEVELS.indexOf(level), labels]]),
    gauge(
      'svc.check.value',
      'The measured value, in milliseconds or as a count',
      measures.map(({ name, value }) => [round(value), [...labels, ['measure', name] as const]] as const),
    ),
  ];
}

function amount(value: number, unit: Measure['unit']): string {
  return unit === 'ms' ? formatDuration(value) : String(round(value));
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

const COUNT_MAX = 1_000_000_000;
const DURATION_MS_MAX = 30 * 24 * 3_600_000;

export function countThreshold(what: string): CountFlag {
  return { kind: 'count', placeholder: '<n>', min: 0, max: COUNT_MAX, help: what };
}

export function durationThreshold(what: string): DurationFlag {
  return { kind: 'duration', placeholder: '<duration>', maxMs: DURATION_MS_MAX, help: what };
}
