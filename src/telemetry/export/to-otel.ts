// Converts the engine's records to those of the official exporters.
//
// Resources are compared by identity there: without one object for each service, every span would be sent with a
// resource of its own. Only types of the packages are imported here: a process that exports nothing does not load them.

import type { Attributes as OtelAttributes, SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type {
  Attributes,
  HistogramPoint,
  LogRecord,
  MetricRecord,
  NumberPoint,
  SpanRecord,
} from '../../core/telemetry/records/records.ts';

/** The parts of the packages that are needed at run time. */
export interface OtelClasses {
  resourceFromAttributes(attributes: Record<string, string>): Resource;
  traceState(text: string): SpanContext['traceState'];
}

type HrTime = [seconds: number, nanoseconds: number];
type LogAttributes = ReadableLogRecord['attributes'];
type LogValue = LogAttributes[string];

const RESOURCES_MAX = 1_000;
const SAMPLED = 1;

export class OtelConverter {
  readonly #classes: OtelClasses;
  /** Of the engine: namespace, version. The service name of a record overrides it. */
  readonly #engineResource: Readonly<Record<string, string>>;
  readonly #resources = new Map<string, Resource>();

  constructor(classes: OtelClasses, engineResource: Readonly<Record<string, string>>) {
    this.#classes = classes;
    this.#engineResource = engineResource;
  }

  span(record: SpanRecord): ReadableSpan {
    const startTime = hrTime(record.start_time_unix_nano);
    const endTime = hrTime(record.end_time_unix_nano);
    const context = this.#context(record.trace_id, record.span_id, record.flags ?? SAMPLED, record.trace_state);
    return {
      name: record.name,
      kind: spanKind(record),
      spanContext: () => context,
      ...(record.parent_span_id !== null && {
        parentSpanContext: this.#context(record.trace_id, record.parent_span_id, record.flags ?? SAMPLED, undefined),
      }),
      startTime,
      endTime,
      duration: hrTime(Math.max(0, record.end_time_unix_nano - record.start_time_unix_nano)),
      ended: true,
      status: {
        code: STATUS_CODES[record.status],
        ...(record.status_description !== undefined && { message: record.status_description }),
      },
      attributes: attributesObject(record.attributes),
      links: record.links.map((link) => ({
        context: this.#context(link.trace_id, link.span_id, SAMPLED, link.trace_state),
        attributes: attributesObject(link.attributes),
      })),
      events: record.events.map((event) => ({
        name: event.name,
        time: hrTime(event.timestamp_unix_nano),
        attributes: attributesObject(event.attributes),
      })),
      resource: this.#resource(record.service_name, {}),
      instrumentationScope: scopeOf(record),
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }

  log(record: LogRecord): ReadableLogRecord {
    const { trace_id: traceId, span_id: spanId } = record;
    return {
      hrTime: hrTime(record.timestamp_unix_nano),
      hrTimeObserved: hrTime(record.observed_timestamp_unix_nano),
      ...(traceId !== null && { spanContext: this.#context(traceId, spanId ?? NO_SPAN, SAMPLED, undefined) }),
      severityText: record.severity_text,
      severityNumber: record.severity_number,
      body: record.body,
      attributes: logAttributes(record.attributes),
      resource: this.#resource(record.service_name, record.resource),
      instrumentationScope: scopeOf(record),
      droppedAttributesCount: 0,
    };
  }

  /** One request of the metrics exporter has one resource, so records are grouped by their service. */
  metrics(records: readonly MetricRecord[]): readonly ResourceMetrics[] {
    return [...grouped(records, (record) => record.service_name)].map(([service, ofService]) => ({
      resource: this.#resource(service, {}),
      scopeMetrics: [...grouped(ofService, scopeKey).values()].map((ofScope) => ({
        scope: scopeOf(ofScope[0] ?? {}),
        metrics: ofScope.flatMap(metricData),
      })),
    }));
  }

  #context(traceId: string, spanId: string, traceFlags: number, traceState: string | undefined): SpanContext {
    const state = traceState === undefined || traceState === '' ? undefined : this.#classes.traceState(traceState);
    return { traceId, spanId, traceFlags, ...(state !== undefined && { traceState: state }) };
  }

  #resource(service: string, own: Readonly<Record<string, string>>): Resource {
    const attributes = { ...this.#engineResource, ...own, 'service.name': service };
    const key = JSON.stringify(attributes);
    const known = this.#resources.get(key);
    if (known !== undefined) return known;
    // Workers choose service names: without a bound they would stay for ever.
    if (this.#resources.size >= RESOURCES_MAX) this.#resources.clear();
    const resource = this.#classes.resourceFromAttributes(attributes);
    this.#resources.set(key, resource);
    return resource;
  }
}

/** Marks a missing parent: sixteen zeros, which OTLP reads as absent. */
const NO_SPAN = '0000000000000000';

// The numbers of OTLP, written out: importing the enums would load the packages.
const STATUS_CODES = { unset: 0, ok: 1, error: 2 } as const;
const KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
const DELTA = 0;
const CUMULATIVE = 1;
const POINT_TYPES = { histogram: 0, gauge: 2, sum: 3 } as const;
const VALUE_TYPE_DOUBLE = 1;

/**
 * Collectors draw service maps from the kind, which the engine's records do not have: it follows from the type of the
 * span.
 */
function spanKind({ name, attributes }: SpanRecord): number {
  const given = attributes.find(([key]) => key === 'span.kind')?.[1].toLowerCase();
  if (given !== undefined && Object.hasOwn(KINDS, given)) return KINDS[given as keyof typeof KINDS];
  if (name.startsWith('enqueue ')) return KINDS.producer;
  if (name.startsWith('fn_queue ') || name.startsWith('queue ')) return KINDS.consumer;
  if (name.startsWith('execute ') || HTTP_REQUEST.test(name)) return KINDS.server;
  return name.startsWith('call ') ? KINDS.client : KINDS.internal;
}

const HTTP_REQUEST = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \//;

function metricData(record: MetricRecord): MetricData[] {
  const base = {
    descriptor: {
      name: record.name,
      description: record.description,
      unit: record.unit,
      valueType: VALUE_TYPE_DOUBLE,
    },
    aggregationTemporality: record.is_delta === true ? DELTA : CUMULATIVE,
  } as const;
  if (record.metric_type === 'histogram') {
    const points = record.data_points.filter(isHistogramPoint).map(histogramPoint);
    return [{ ...base, dataPointType: POINT_TYPES.histogram, dataPoints: points }];
  }
  const dataPoints = record.data_points
    .filter(isNumberPoint)
    .map((point) => ({ ...pointFrame(point), value: point.value }));
  if (record.metric_type === 'gauge') return [{ ...base, dataPointType: POINT_TYPES.gauge, dataPoints }];
  const isMonotonic = record.metric_type === 'counter';
  return [{ ...base, dataPointType: POINT_TYPES.sum, isMonotonic, dataPoints }];
}

function histogramPoint(point: HistogramPoint) {
  return {
    ...pointFrame(point),
    value: {
      buckets: { boundaries: [...point.explicit_bounds], counts: [...point.bucket_counts] },
      count: point.count,
      sum: point.sum,
      ...(point.min !== undefined && { min: point.min }),
      ...(point.max !== undefined && { max: point.max }),
    },
  };
}

/** OTLP takes zero for "unknown". */
function pointFrame(point: NumberPoint | HistogramPoint) {
  return {
    startTime: hrTime(point.start_time_unix_nano ?? 0),
    endTime: hrTime(point.timestamp_unix_nano),
    attributes: attributesObject(point.attributes),
  };
}

function isHistogramPoint(point: NumberPoint | HistogramPoint): point is HistogramPoint {
  return 'bucket_counts' in point;
}

function isNumberPoint(point: NumberPoint | HistogramPoint): point is NumberPoint {
  return 'value' in point;
}

interface Scoped {
  readonly instrumentation_scope_name?: string;
  readonly instrumentation_scope_version?: string;
}

function scopeOf({ instrumentation_scope_name: name, instrumentation_scope_version: version }: Scoped) {
  return { name: name ?? '', ...(version !== undefined && { version }) };
}

function scopeKey({ instrumentation_scope_name: name, instrumentation_scope_version: version }: Scoped): string {
  return `${name ?? ''}@${version ?? ''}`;
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function attributesObject(pairs: Attributes): OtelAttributes {
  return Object.fromEntries(pairs);
}

function logAttributes(attributes: Readonly<Record<string, unknown>>): LogAttributes {
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, logValue(value)]));
}

/** JSON as an attribute value. Other values, such as functions, are left out. */
function logValue(value: unknown): LogValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  if (Array.isArray(value)) return value.map(logValue);
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, logValue(item)]));
  return undefined;
}

/** Nanoseconds since 1970 do not fit into a number: digits below a microsecond are rounding errors, and left out. */
function hrTime(unixNano: number): HrTime {
  const micros = Math.round(unixNano / 1_000);
  return [Math.floor(micros / 1_000_000), (micros % 1_000_000) * 1_000];
}
