// Metrics in the text format of Prometheus, version 0.0.4. Names get underscores for dots; a counter's name ends in
// `_total`, the convention of Prometheus. Metrics of workers are separated by the label `service_name`.

import type { Attributes, HistogramPoint, MetricRecord, NumberPoint } from '../records/records.ts';

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const NONE: ReadonlySet<string> = new Set();

/**
 * The newest point of each label set counts; records of one name are written together, as the format requires.
 * `without`: names in the form of Prometheus that another text next to this one contains.
 */
export function prometheusText(records: readonly MetricRecord[], without = NONE): string {
  const families = new Map<string, Family>();
  for (const record of records) {
    const type = PROMETHEUS_TYPES[record.metric_type];
    const name = familyName(record.name, type);
    if (without.has(name)) continue;
    let family = families.get(name);
    if (family === undefined) {
      family = { name, type, help: record.description, samples: new Map() };
      families.set(name, family);
    }
    // One name has one type; a worker that uses a name with another type would make the whole text unreadable.
    if (family.type !== type) continue;
    for (const point of record.data_points) addPoint(family, record.service_name, point);
  }
  return [...families.values()]
    .filter(({ samples }) => samples.size > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(familyText)
    .join('');
}

const PROMETHEUS_TYPES = {
  counter: 'counter',
  gauge: 'gauge',
  updowncounter: 'gauge',
  histogram: 'histogram',
} as const;

interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** By labels; the newest wins. */
  readonly samples: Map<string, { point: NumberPoint | HistogramPoint; labels: readonly [string, string][] }>;
}

function addPoint(family: Family, service: string, point: NumberPoint | HistogramPoint): void {
  if ((family.type === 'histogram') !== 'bucket_counts' in point) return;
  const labels = labelsOf([...point.attributes, ['service_name', service]]);
  const key = labelText(labels);
  const known = family.samples.get(key);
  if (known === undefined || known.point.timestamp_unix_nano <= point.timestamp_unix_nano) {
    family.samples.set(key, { point, labels });
  }
}

function familyText({ name, type, help, samples }: Family): string {
  const lines = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`];
  for (const { point, labels } of samples.values()) {
    if ('value' in point) lines.push(`${name}${labelText(labels)} ${numberText(point.value)}`);
    else lines.push(...histogramLines(name, labels, point));
  }
  return `${lines.join('\n')}\n`;
}

/** Buckets are cumulative here, and the last one contains everything. */
function histogramLines(name: string, labels: readonly [string, string][], point: HistogramPoint): string[] {
  let below = 0;
  const buckets = point.explicit_bounds.map((bound, index) => {
    below += point.bucket_counts[index] ?? 0;
    return `${name}_bucket${labelText([...labels, ['le', numberText(bound)]])} ${below}`;
  });
  return [
    ...buckets,
    `${name}_bucket${labelText([...labels, ['le', '+Inf']])} ${point.count}`,
    `${name}_sum${labelText(labels)} ${numberText(point.sum)}`,
    `${name}_count${labelText(labels)} ${point.count}`,
  ];
}

function familyName(name: string, type: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_:]/g, '_').replace(/^(?=\d)/, '_');
  return type === 'counter' && !clean.endsWith('_total') ? `${clean}_total` : clean;
}

/** The names of the families in a text. */
export function familyNames(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
}

/** Sorted, so that the same set gives the same text. A repeated label keeps its last value. */
function labelsOf(attributes: Attributes): [string, string][] {
  const labels = new Map<string, string>();
  for (const [key, value] of attributes) labels.set(labelName(key), value);
  return [...labels].sort(([a], [b]) => (a < b ? -1 : 1));
}

function labelName(key: string): string {
  const clean = key.replace(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_') || '_';
  // Names that begin with two underscores belong to Prometheus, and `le` to its histograms.
  return clean === 'le' || clean.startsWith('__') ? `label_${clean}` : clean;
}

function labelText(labels: readonly [string, string][]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
