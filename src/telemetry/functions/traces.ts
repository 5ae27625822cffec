// `engine::traces::…`

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { payloadsAnswer } from '../../core/telemetry/payloads/payloads-answer.ts';
import type { SpanRecord } from '../../core/telemetry/records/records.ts';
import type { Retention } from '../../core/telemetry/records/retention.ts';
import { listRuns } from '../../core/telemetry/spans/runs.ts';
import type { SpanStore } from '../../core/telemetry/spans/span-store.ts';
import { edgesOf } from '../../core/telemetry/spans/trace-edges.ts';
import { facetsOf, groupSpans } from '../../core/telemetry/spans/trace-groups.ts';
import { durationMs, listTraces } from '../../core/telemetry/spans/trace-list.ts';
import { buildTree, TREE_DEPTH_MAX } from '../../core/telemetry/spans/trace-tree.ts';
import {
  validateTracesEdges,
  validateTracesFacets,
  validateTracesGroupBy,
  validateTracesList,
  validateTracesPayloads,
  validateTracesRuns,
  validateTracesSpan,
  validateTracesTree,
} from '../../generated/telemetry-payloads.ts';
import type { TelemetryFunction, TelemetryStores } from './definition.ts';
import {
  facetLimits,
  groupLimit,
  numberOr,
  optionalNumber,
  pageRange,
  TIME,
  type TracesListPayload,
  timeRange,
  traceSort,
} from './payloads.ts';
import { traceRetention } from './retention.ts';

const DURATION = { min: 0, max: 1e12 };
const LIMIT = { min: 0, max: 1_000, isWhole: true };
const TRACE_IDS_MAX = 1_000;
const PAIRS_MAX = 64;

const list: TelemetryFunction<'engine::traces::list'> = {
  id: 'engine::traces::list',
  run(given, stores) {
    const payload = readPayload(list.id, validateTracesList, given);
    const { offset, limit } = pageRange(payload, stores.isPart);
    const page = listTraces(spansOf(stores), { ...readFilter(payload), offset, limit }, stores.nowMs);
    return { ...page, offset, limit, retention: retentionOf(stores) };
  },
};

function readFilter(payload: TracesListPayload) {
  const { attributes, exclude_attributes: excluded } = payload;
  if ((attributes?.length ?? 0) + (excluded?.length ?? 0) > PAIRS_MAX) {
    throw new Refusal(
      'BAD_REQUEST',
      `'attributes' and 'exclude_attributes' have more than ${PAIRS_MAX} pairs together`,
    );
  }
  return {
    ...timeRange(payload),
    traceIds: readTraceIds(payload),
    serviceName: payload.service_name ?? undefined,
    name: payload.name ?? undefined,
    status: payload.status ?? undefined,
    minDurationMs: optionalNumber('min_duration_ms', payload.min_duration_ms, DURATION),
    maxDurationMs: optionalNumber('max_duration_ms', payload.max_duration_ms, DURATION),
    attributes: attributes ?? [],
    excludeAttributes: excluded ?? [],
    searchAllSpans: payload.search_all_spans ?? false,
    // A trace that is named by its id is shown, whatever it is.
    includeInternal: payload.include_internal ?? (payload.trace_id ?? payload.trace_ids ?? undefined) !== undefined,
    ...traceSort(payload),
  };
}

function readTraceIds({ trace_id: one, trace_ids: several }: TracesListPayload): string[] | undefined {
  if (several !== undefined && several !== null && several.length > TRACE_IDS_MAX) {
    throw new Refusal('BAD_REQUEST', `'trace_ids' has ${several.length} ids; the limit is ${TRACE_IDS_MAX}`);
  }
  const ids = several?.map((id) => id.toLowerCase());
  if (one === undefined || one === null) return ids;
  return ids === undefined || ids.includes(one.toLowerCase()) ? [one.toLowerCase()] : [];
}

const tree: TelemetryFunction<'engine::traces::tree'> = {
  id: 'engine::traces::tree',
  run(given, stores) {
    const payload = readPayload(tree.id, validateTracesTree, given);
    const spans = spansOfTrace(payload.trace_id.toLowerCase(), stores);
    if (stores.isPart) {
      // Their parents may be on another engine.
      const roots = spans.map((one) => ({ ...one, duration_ms: durationMs(one, stores.nowMs), children: [] }));
      return { roots, span_count: spans.length, retention: retentionOf(stores) };
    }
    const roots = buildTree(spans, {
      maxDepth: numberOr('max_depth', payload.max_depth, TREE_DEPTH_MAX, {
        min: 0,
        max: TREE_DEPTH_MAX,
        isWhole: true,
      }),
      parent: payload.parent?.toLowerCase(),
      duration: (span) => durationMs(span, stores.nowMs),
    });
    return { roots, span_count: spans.length, retention: retentionOf(stores) };
  },
};

const span: TelemetryFunction<'engine::traces::span'> = {
  id: 'engine::traces::span',
  run(given, stores) {
    const { trace_id: traceId, span_id: spanId } = readPayload(span.id, validateTracesSpan, given);
    const record = spansOfTrace(traceId.toLowerCase(), stores).find((known) => known.span_id === spanId.toLowerCase());
    if (record === undefined) throw new Refusal('NOT_FOUND', `No span '${spanId}' of trace '${traceId}' is stored`);
    return { span: { ...record, duration_ms: durationMs(record, stores.nowMs) } };
  },
};

const clear: TelemetryFunction<'engine::traces::clear'> = {
  id: 'engine::traces::clear',
  run(_given, stores) {
    stores.spans?.clear(stores.nowMs);
    stores.payloads?.clear();
    stores.disk?.spans.clear();
    return { success: true };
  },
};

const groupBy: TelemetryFunction<'engine::traces::group_by'> = {
  id: 'engine::traces::group_by',
  run(given, stores) {
    const payload = readPayload(groupBy.id, validateTracesGroupBy, given);
    const store = spansOf(stores);
    const asked = optionalNumber('since_ms', payload.since_ms, TIME);
    // For the time before some spans were dropped, a count would be too low.
    const sinceMs = asked === undefined ? undefined : Math.max(asked, store.spansWholeSinceMs ?? asked);
    const query = {
      attribute: payload.attribute,
      sinceMs,
      limit: stores.isPart ? LIMIT.max : groupLimit(payload),
      includeInternal: payload.include_internal ?? false,
      labelAttribute: payload.label_attribute ?? undefined,
      parts: numberOr('parts', payload.parts, 0, PARTS),
      // Those of several engines begin at the same time, however much each one keeps.
      partsSinceMs: stores.isPart ? asked : sinceMs,
      withDurations: stores.isPart,
    };
    const storage = { spans: store.count, bytes: store.bytes };
    return {
      groups: groupSpans(store, query, stores.nowMs),
      since_ms: sinceMs ?? store.spansWholeSinceMs ?? null,
      storage,
    };
  },
};

/** The values that fit into a word-sized line chart. */
const PARTS = { min: 0, max: 120, isWhole: true };

/** This number takes the telemetry thread some 20 ms. */
const EDGE_SPANS_MAX = 50_000;

const edges: TelemetryFunction<'engine::traces::edges'> = {
  id: 'engine::traces::edges',
  run(given, stores) {
    const range = timeRange(readPayload(edges.id, validateTracesEdges, given));
    return edgesOf(spansOf(stores), { ...range, spansMax: EDGE_SPANS_MAX }, stores.nowMs);
  },
};

const facets: TelemetryFunction<'engine::traces::facets'> = {
  id: 'engine::traces::facets',
  run(given, stores) {
    const payload = readPayload(facets.id, validateTracesFacets, given);
    const { limit, valuesLimit } = facetLimits(payload);
    const store = spansOf(stores);
    const query = { key: payload.key ?? undefined, search: payload.search ?? undefined, limit, valuesLimit };
    return { facets: facetsOf(store, query), services: servicesOf(store) };
  },
};

const runs: TelemetryFunction<'engine::traces::runs'> = {
  id: 'engine::traces::runs',
  run(given, stores) {
    const payload = readPayload(runs.id, validateTracesRuns, given);
    const { offset, limit } = pageRange(payload, stores.isPart);
    const { function_id: functionId, status } = payload;
    const query = { ...timeRange(payload), functionId, status: status ?? undefined, offset, limit };
    const hasPayload = (span: SpanRecord) => stores.payloads?.pairOf(span.trace_id, span.span_id) !== undefined;
    return {
      ...listRuns(spansOf(stores), query, stores.nowMs, hasPayload),
      offset,
      limit,
      retention: retentionOf(stores),
    };
  },
};

const payloads: TelemetryFunction<'engine::traces::payloads'> = {
  id: 'engine::traces::payloads',
  run(given, stores) {
    const payload = readPayload(payloads.id, validateTracesPayloads, given);
    const [traceId, spanId] = [payload.trace_id.toLowerCase(), payload.span_id.toLowerCase()];
    const spans = spansOf(stores).trace(traceId)?.spans;
    const span = spans?.get(spanId)?.record;
    if (span === undefined) throw new Refusal('NOT_FOUND', `No span '${spanId}' of trace '${traceId}' is stored`);
    return payloadsAnswer(span, spans?.get(span.parent_span_id ?? '')?.record, stores.settings.payloads, (of) =>
      stores.payloads?.pairOf(traceId, of.span_id),
    );
  },
};

function servicesOf(store: SpanStore): string[] {
  const services = new Set<string>();
  for (const trace of store.traces()) for (const service of trace.services) services.add(service);
  return [...services].sort();
}

function spansOfTrace(traceId: string, stores: TelemetryStores): SpanRecord[] {
  return [...(spansOf(stores).trace(traceId)?.spans.values() ?? [])].map(({ record }) => record);
}

function retentionOf(stores: TelemetryStores): Retention {
  return traceRetention(spansOf(stores), stores.settings, stores.startedMs);
}

function spansOf({ spans }: TelemetryStores): SpanStore {
  if (spans !== undefined) return spans;
  const text = "Spans are not kept here: set 'exporter' of svc-observability to memory or both, and 'enabled' to true";
  throw new Refusal('memory_exporter_not_enabled', text);
}

export const traceFunctions: readonly TelemetryFunction[] = [
  list,
  tree,
  span,
  clear,
  groupBy,
  edges,
  runs,
  payloads,
  facets,
];
