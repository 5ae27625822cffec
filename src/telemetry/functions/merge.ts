// Merges what the engines of a cluster answer to one question into one answer. Each answers with all that the page may
// need of it: its first rows up to the end of the page, and all its spans of a trace.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import type { ListedLog } from '../../core/telemetry/logs/log-list.ts';
import { mergedHistogram } from '../../core/telemetry/logs/merge-histograms.ts';
import { mergedCalls, mergedJobs } from '../../core/telemetry/metrics/merge-calls.ts';
import { mergedMetrics } from '../../core/telemetry/metrics/merge-metrics.ts';
import { mergedRollups } from '../../core/telemetry/metrics/merge-rollups.ts';
import type { MissingEngine, Retention } from '../../core/telemetry/records/retention.ts';
import { mergedFacets } from '../../core/telemetry/spans/merge-facets.ts';
import { mergedGroups } from '../../core/telemetry/spans/merge-groups.ts';
import { compareRows, type TraceRow } from '../../core/telemetry/spans/trace-list.ts';
import { buildTree, TREE_DEPTH_MAX, type TreeSpan } from '../../core/telemetry/spans/trace-tree.ts';
import { telemetryAnswers } from '../../generated/telemetry-answers.ts';
import {
  validateLogsList,
  validateLogsSearch,
  validateTracesFacets,
  validateTracesGroupBy,
  validateTracesList,
  validateTracesRuns,
  validateTracesTree,
} from '../../generated/telemetry-payloads.ts';
import type { AnswerOfEngine } from '../tasks.ts';
import { MERGED_FUNCTIONS } from './definition.ts';
import { facetLimits, groupLimit, type PagePayload, pageRange, traceSort } from './payloads.ts';

/** What an engine answered. */
export interface Part<Answer = unknown> {
  /** `undefined`: this engine. */
  readonly engine: string | undefined;
  readonly answer: Answer;
}

/** `undefined`: no part can be read. */
type Merge = (given: unknown, parts: readonly Part[]) => object | undefined;

function mergedBy<Answer extends object>(
  isAnswer: (value: unknown) => value is Answer,
  merge: (parts: readonly [Part<Answer>, ...Part<Answer>[]], given: unknown) => Answer,
): Merge {
  return (given, parts) => {
    const readable = parts.flatMap(({ engine, answer }) => (isAnswer(answer) ? [{ engine, answer }] : []));
    const [first, ...rest] = readable;
    return first && merge([first, ...rest], given);
  };
}

const MERGES: Readonly<Record<(typeof MERGED_FUNCTIONS)[number], Merge>> = {
  'engine::traces::list': mergedBy(telemetryAnswers['engine::traces::list'], (parts, given) => {
    const payload = readPayload('engine::traces::list', validateTracesList, given);
    const rows = new Map<string, TraceRow>();
    for (const row of parts.flatMap(({ answer }) => answer.spans)) {
      const known = rows.get(row.trace_id);
      rows.set(row.trace_id, known === undefined ? row : joined(known, row));
    }
    const all = [...rows.values()].sort(compareRows(traceSort(payload)));
    const seen = parts.reduce((sum, { answer }) => sum + answer.spans.length, 0);
    const { offset, limit } = pageRange(payload, false);
    const total = totalOf(parts) - (seen - all.length);
    return { spans: all.slice(offset, offset + limit), total, offset, limit, retention: retentionOf(parts) };
  }),
  'engine::traces::tree': mergedBy(telemetryAnswers['engine::traces::tree'], (parts, given) => {
    const payload = readPayload('engine::traces::tree', validateTracesTree, given);
    const spans = parts.flatMap(({ answer }) => answer.roots);
    const durations = new Map(spans.map(({ span_id: id, duration_ms: ms }) => [id, ms]));
    const roots = buildTree(spans.map(recordOf), {
      maxDepth: Math.min(payload.max_depth ?? TREE_DEPTH_MAX, TREE_DEPTH_MAX),
      parent: payload.parent?.toLowerCase(),
      duration: ({ span_id: id }) => durations.get(id) ?? 0,
    });
    return { roots, span_count: durations.size, retention: retentionOf(parts) };
  }),
  'engine::traces::span': mergedBy(telemetryAnswers['engine::traces::span'], ([{ answer }]) => answer),
  'engine::traces::payloads': mergedBy(
    telemetryAnswers['engine::traces::payloads'],
    (parts) => (parts.find(({ answer }) => answer.missing === null) ?? parts[0]).answer,
  ),
  'engine::traces::runs': mergedBy(telemetryAnswers['engine::traces::runs'], (parts, given) => {
    const { offset, limit } = pageRange(readPayload('engine::traces::runs', validateTracesRuns, given), false);
    const runs = parts.flatMap(({ answer }) => answer.runs).sort((a, b) => b.started_ms - a.started_ms);
    const page = runs.slice(offset, offset + limit);
    return { runs: page, total: totalOf(parts), offset, limit, retention: retentionOf(parts) };
  }),
  'engine::traces::group_by': mergedBy(telemetryAnswers['engine::traces::group_by'], (parts, given) => {
    const limit = groupLimit(readPayload('engine::traces::group_by', validateTracesGroupBy, given));
    const answers = parts.map(({ answer }) => answer);
    const since = answers.flatMap(({ since_ms: ms }) => ms ?? []);
    return {
      groups: mergedGroups(
        answers.map(({ groups }) => groups),
        limit,
      ),
      // Whole only since the engine that keeps least has all.
      since_ms: since.length === 0 ? null : Math.max(...since),
      storage: answers.reduce(
        ({ spans, bytes }, { storage }) => ({ spans: spans + storage.spans, bytes: bytes + storage.bytes }),
        { spans: 0, bytes: 0 },
      ),
    };
  }),
  'engine::logs::list': mergedBy(telemetryAnswers['engine::logs::list'], (parts, given) => {
    const payload = readPayload('engine::logs::list', validateLogsList, given);
    return { ...parts[0].answer, logs: logPage(parts, payload, 'desc'), total: totalOf(parts) };
  }),
  'engine::logs::search': mergedBy(telemetryAnswers['engine::logs::search'], (parts, given) => {
    const payload = readPayload('engine::logs::search', validateLogsSearch, given);
    const counts = new Map<string, number>();
    for (const { service_name: name, count } of parts.flatMap(({ answer }) => answer.services)) {
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
    return {
      ...parts[0].answer,
      logs: logPage(parts, payload, payload.order ?? 'desc'),
      total: totalOf(parts),
      services: [...counts].sort((a, b) => b[1] - a[1]).map(([service_name, count]) => ({ service_name, count })),
    };
  }),
  'engine::logs::histogram': mergedBy(telemetryAnswers['engine::logs::histogram'], (parts) =>
    mergedHistogram(parts.map(({ answer }) => answer)),
  ),
  'engine::traces::facets': mergedBy(telemetryAnswers['engine::traces::facets'], (parts, given) => {
    const payload = readPayload('engine::traces::facets', validateTracesFacets, given);
    const { limit, valuesLimit } = facetLimits(payload);
    const answers = parts.map(({ answer }) => answer);
    return {
      facets: mergedFacets(
        answers.map(({ facets }) => facets),
        limit,
        valuesLimit,
      ),
      services: [...new Set(answers.flatMap(({ services }) => services))].sort(),
    };
  }),
  'engine::metrics::list': mergedBy(telemetryAnswers['engine::metrics::list'], ([first, ...rest]) =>
    mergedMetrics(
      first.answer,
      rest.map(({ answer }) => answer),
    ),
  ),
  'engine::metrics::calls': mergedBy(telemetryAnswers['engine::metrics::calls'], ([first, ...rest]) =>
    mergedCalls([first.answer, ...rest.map(({ answer }) => answer)]),
  ),
  'engine::metrics::jobs': mergedBy(telemetryAnswers['engine::metrics::jobs'], ([first, ...rest]) =>
    mergedJobs([first.answer, ...rest.map(({ answer }) => answer)]),
  ),
  'engine::rollups::list': mergedBy(telemetryAnswers['engine::rollups::list'], (parts) => ({
    ...parts[0].answer,
    ...mergedRollups(parts.map(({ answer }) => answer)),
  })),
};

/** `run`: answers for this engine. Its refusal is thrown where no engine has an answer. */
export function answerForAll(
  functionId: string,
  given: unknown,
  run: (given: unknown) => unknown,
  parts: readonly AnswerOfEngine[],
  missing: readonly MissingEngine[] = [],
): unknown {
  const own = orRefusal(() => run(given));
  const others = parts.map(({ engine, json }) => ({ engine, answer: parsed(json) }));
  const id = MERGED_FUNCTIONS.find((one) => one === functionId);
  const merged = id && MERGES[id](given, [{ engine: undefined, answer: own }, ...others]);
  if (merged === undefined) {
    throw own instanceof Refusal ? own : new Error(`The answers of ${functionId} cannot be merged`);
  }
  return missing.length === 0 ? merged : { ...merged, missing_engines: missing };
}

function orRefusal(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** `undefined`: an engine of another version sent something else. */
function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString());
  } catch {
    return undefined;
  }
}

/** A trace with spans on several engines: its root is where it began. */
function joined(one: TraceRow, other: TraceRow): TraceRow {
  const [root, rest] = beginsBefore(other, one) ? [other, one] : [one, other];
  return {
    ...root,
    span_count: root.span_count + rest.span_count,
    services: [...new Set([...root.services, ...rest.services])].sort(),
    has_error: root.has_error || rest.has_error,
    error_count: root.error_count + rest.error_count,
    trace_status: root.trace_status === 'ok' ? rest.trace_status : root.trace_status,
  };
}

function beginsBefore(one: TraceRow, other: TraceRow): boolean {
  if ((one.parent_span_id === null) !== (other.parent_span_id === null)) return one.parent_span_id === null;
  return one.start_time_unix_nano < other.start_time_unix_nano;
}

function recordOf({ children: _children, duration_ms: _ms, hidden_count: _count, ...record }: TreeSpan) {
  return record;
}

function logPage(
  parts: readonly Part<{ readonly logs: readonly ListedLog[] }>[],
  payload: PagePayload,
  order: 'asc' | 'desc',
): ListedLog[] {
  const sign = order === 'asc' ? 1 : -1;
  const logs = parts.flatMap(({ engine, answer }) =>
    engine === undefined ? answer.logs : answer.logs.map((log) => ({ ...log, engine })),
  );
  logs.sort((a, b) => sign * (a.timestamp_unix_nano - b.timestamp_unix_nano || a.log_id - b.log_id));
  const { offset, limit } = pageRange(payload, false);
  return logs.slice(offset, offset + limit);
}

function totalOf(parts: readonly Part<{ readonly total: number }>[]): number {
  return parts.reduce((sum, { answer }) => sum + answer.total, 0);
}

/** Whole only since the engine that keeps least has all. */
function retentionOf(
  parts: readonly [Part<{ readonly retention: Retention }>, ...Part<{ readonly retention: Retention }>[]],
): Retention {
  return parts
    .map(({ answer }) => answer.retention)
    .reduce((one, other) => (other.whole_since_ms > one.whole_since_ms ? other : one));
}
