// Spans and traces from answers of the engine, validated (`records.ts`) and prepared for drawing and export.

import type { Attributes, SpanEvent, SpanLink, SpanStatus } from '../../../core/telemetry/records/records.ts';
import { explainRetention, type Retention } from '../../../core/telemetry/records/retention.ts';
import type { TreeSpan } from '../../../core/telemetry/spans/trace-tree.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import { formatTime } from '../../text/times.ts';

const TRACES_SEARCHED = 1_000;
const CANDIDATES_SHOWN = 5;
/** One answer has a limited number of levels; the number of requests for deeper levels is limited, too. */
const DEEPER_QUESTIONS_MAX = 1_000;
const STATUSES: readonly SpanStatus[] = ['ok', 'error', 'unset'];

/** `last`, a whole id, or the beginning of one: the id of a trace that the engine has. */
export async function findTraceId(engine: EngineConnection, wanted: string): Promise<string> {
  if (/^[\da-f]{32}$/i.test(wanted)) return wanted.toLowerCase();
  const isLast = wanted === 'last';
  if (!isLast && !/^[\da-f]{4,31}$/i.test(wanted)) {
    throw usageFailure(`'${wanted}' is not a trace id: expected 4 to 32 hexadecimal digits, or last.`);
  }
  const answer = await engine.call('engine::traces::list', {
    sort_by: 'start_time',
    sort_order: 'desc',
    limit: isLast ? 1 : TRACES_SEARCHED,
    include_internal: !isLast,
  });
  const ids = recordsIn(answer, 'spans').map((root) => textIn(root, 'trace_id'));
  const found = isLast ? ids.slice(0, 1) : ids.filter((id) => id.startsWith(wanted.toLowerCase()));
  if (found.length > 1) {
    throw usageFailure(
      `${found.length} traces begin with '${wanted}'.`,
      `One of: ${found.slice(0, CANDIDATES_SHOWN).join(', ')}`,
    );
  }
  const [traceId] = found;
  if (traceId === undefined) throw traceNotFound(wanted, readRetention(answer));
  return traceId;
}

/** The spans of a trace below its roots; levels that the engine left out as too deep are requested, too. */
export async function readTrace(engine: EngineConnection, traceId: string): Promise<TreeSpan[]> {
  let questions = 0;
  let retention: Retention | undefined;
  const ask = async (parent: string | undefined): Promise<TreeSpan[]> => {
    questions += 1;
    if (questions > DEEPER_QUESTIONS_MAX) return [];
    const answer = await engine.call('engine::traces::tree', {
      trace_id: traceId,
      ...(parent === undefined ? {} : { parent }),
    });
    retention ??= readRetention(answer);
    return await Promise.all(recordsIn(answer, 'roots').map((root) => complete(readSpan(root), ask)));
  };
  const roots = await ask(undefined);
  if (roots.length === 0) throw traceNotFound(traceId, retention);
  return roots;
}

async function complete(span: TreeSpan, ask: (parent: string) => Promise<TreeSpan[]>): Promise<TreeSpan> {
  if (span.hidden_count !== undefined && span.children.length === 0) {
    const [again] = await ask(span.span_id);
    return again === undefined || again.children.length === 0 ? span : again;
  }
  return { ...span, children: await Promise.all(span.children.map((child) => complete(child, ask))) };
}

/** All spans of the trees, parents first. */
export function flatSpans(roots: readonly TreeSpan[]): TreeSpan[] {
  const flat: TreeSpan[] = [];
  const waiting = [...roots].reverse();
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    flat.push(span);
    waiting.push(...[...span.children].reverse());
  }
  return flat;
}

export function readSpan(record: JsonRecord): TreeSpan {
  const optional = <Key extends string>(key: Key) => {
    const text = textIn(record, key);
    return text === '' ? {} : ({ [key]: text } as Record<Key, string>);
  };
  const flags = numberIn(record, 'flags');
  const hidden = numberIn(record, 'hidden_count');
  return {
    trace_id: textIn(record, 'trace_id'),
    span_id: textIn(record, 'span_id'),
    parent_span_id: textIn(record, 'parent_span_id') || null,
    name: textIn(record, 'name'),
    start_time_unix_nano: numberIn(record, 'start_time_unix_nano') ?? 0,
    end_time_unix_nano: numberIn(record, 'end_time_unix_nano') ?? 0,
    status: STATUSES.find((status) => status === record.status) ?? 'unset',
    attributes: readAttributes(record.attributes),
    service_name: textIn(record, 'service_name'),
    events: recordsIn(record, 'events').map(readEvent),
    links: recordsIn(record, 'links').map(readLink),
    duration_ms: numberIn(record, 'duration_ms') ?? 0,
    children: recordsIn(record, 'children').map(readSpan),
    ...optional('status_description'),
    ...optional('instrumentation_scope_name'),
    ...optional('instrumentation_scope_version'),
    ...optional('trace_state'),
    ...(flags === undefined ? {} : { flags }),
    ...(hidden === undefined ? {} : { hidden_count: hidden }),
    ...(record.pending === true ? { pending: true } : {}),
  };
}

/** The engine answers with this code when it keeps no traces because all go to a collector. */
export function explainNoMemory(error: unknown): unknown {
  if (!isSvcError(error, 'memory_exporter_not_enabled')) return error;
  return new CliFailure({
    code: error.code,
    message: 'The engine keeps no traces: its exporter is otlp.',
    exitCode: EXIT.refused,
    hint: 'Set exporter: both (or memory) in the configuration of svc-observability.',
  });
}

function traceNotFound(wanted: string, retention: Retention | undefined): CliFailure {
  const reasons = retention === undefined ? [] : explainRetention('traces', retention, shortTime);
  return new CliFailure({
    code: 'NOT_FOUND',
    message: wanted === 'last' ? 'The engine has no trace yet.' : `The engine has no trace '${wanted}'.`,
    exitCode: EXIT.notFound,
    hint: [...(wanted === 'last' ? [] : reasons), 'List the traces with: svc trace list'].join(' '),
    details: { trace_id: wanted, ...(retention !== undefined && { retention }) },
  });
}

export function shortTime(unixMs: number): string {
  return formatTime(unixMs, 'local', unixMs);
}

/** Older engines do not send it. */
export function readRetention(answer: unknown): Retention | undefined {
  const record = isRecord(answer) && isRecord(answer.retention) ? answer.retention : undefined;
  const whole_since_ms = record && numberIn(record, 'whole_since_ms');
  if (record === undefined || whole_since_ms === undefined) return undefined;
  return {
    whole_since_ms,
    kept_since_ms: numberIn(record, 'kept_since_ms') ?? null,
    setting: textIn(record, 'setting'),
    value: numberIn(record, 'value') ?? null,
    is_sampled: record.is_sampled === true,
  };
}

function readEvent(record: JsonRecord): SpanEvent {
  return {
    name: textIn(record, 'name'),
    timestamp_unix_nano: numberIn(record, 'timestamp_unix_nano') ?? 0,
    attributes: readAttributes(record.attributes),
  };
}

function readLink(record: JsonRecord): SpanLink {
  return {
    trace_id: textIn(record, 'trace_id'),
    span_id: textIn(record, 'span_id'),
    attributes: readAttributes(record.attributes),
  };
}

/** Pairs; older engines send an object. */
function readAttributes(value: unknown): Attributes {
  const pairs = Array.isArray(value) ? value : isRecord(value) ? Object.entries(value) : [];
  return pairs.flatMap((pair: unknown) => {
    if (!Array.isArray(pair) || typeof pair[0] !== 'string') return [];
    const text: unknown = pair[1];
    return [[pair[0], typeof text === 'string' ? text : (JSON.stringify(text) ?? '')] as const];
  });
}
