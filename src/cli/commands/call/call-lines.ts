// The calls that a worker in development received, one line each, printed as their spans arrive. Without traces, or
// without an engine, there are no lines and the worker keeps running.

import type { TreeSpan } from '../../../core/telemetry/spans/trace-tree.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import type { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import type { Context } from '../../kernel/command.ts';
import { formatDuration } from '../../text/durations.ts';
import { follow } from '../../text/follow.ts';
import { numberIn, recordsIn, textIn } from '../../text/records.ts';
import { flatSpans, readTrace } from '../watch/spans.ts';

const LOOK_MS = 500;
const AWAY_MS = 2_000;
/** A call that takes longer is not shown. */
const WINDOW_MS = 60_000;
const TRACES_MAX = 50;
const EXECUTED = 'execute ';

interface Seen {
  readonly atMs: number;
  spans: number;
  readonly told: Set<string>;
}

/** Never ends. */
export async function tellCalls(
  context: Context<typeof CONNECTION_FLAGS>,
  worker: string,
  tell: (line: string) => void,
): Promise<never> {
  const { terminal } = context;
  const begunMs = terminal.now();
  const seen = new Map<string, Seen>();
  const look = async (engine: EngineConnection): Promise<void> => {
    const nowMs = terminal.now();
    for (const [trace, { atMs }] of seen) if (atMs < nowMs - 2 * WINDOW_MS) seen.delete(trace);
    const answer = await engine.call('engine::traces::list', {
      ...{ service_name: worker, search_all_spans: true, limit: TRACES_MAX, sort_by: 'start_time', sort_order: 'desc' },
      start_time: Math.max(begunMs, nowMs - WINDOW_MS),
    });
    for (const row of recordsIn(answer, 'spans').reverse()) {
      const trace = textIn(row, 'trace_id');
      const known = seen.get(trace) ?? { atMs: nowMs, spans: 0, told: new Set<string>() };
      seen.set(trace, known);
      const spans = numberIn(row, 'span_count') ?? 0;
      if (spans === known.spans) continue;
      known.spans = spans;
      for (const span of flatSpans(await readTrace(engine, trace))) {
        if (!isOf(worker, span) || known.told.has(span.span_id)) continue;
        known.told.add(span.span_id);
        tell(lineOf(span));
      }
    }
  };
  for (;;) {
    await follow(context, LOOK_MS, look).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  }
}

function isOf(worker: string, { service_name: service, name }: TreeSpan): boolean {
  return service === worker && name.startsWith(EXECUTED);
}

function lineOf({ name, status, duration_ms: durationMs, trace_id: trace }: TreeSpan): string {
  return `${name.slice(EXECUTED.length)} ${status} ${formatDuration(durationMs)} trace=${trace.slice(0, 16)}`;
}
