// The trace of a call that the command line makes itself: its context, and its picture afterwards (CLI-21).

import { randomBytes } from 'node:crypto';
import { layoutTrace } from '../core/telemetry/trace-layout.ts';
import type { TreeSpan } from '../core/telemetry/trace-tree.ts';
import { isSvcError } from '../sdk/errors.ts';
import type { EngineConnection } from './connection.ts';
import { stripUnsafe } from './display-text.ts';
import { formatDuration } from './durations.ts';
import { CliFailure } from './failures.ts';
import type { Audience } from './progress-line.ts';
import { recordsIn } from './records.ts';
import { explainNoMemory, flatSpans, readSpan, readTrace } from './spans.ts';
import { drawTrace, headline } from './trace-drawing.ts';

/** Workers send their spans in batches, ten a second. */
const LOOK_MS = 150;
const LOOKS_MAX = 20;
/** What is only said beside the answer, which was printed before, is worth no long wait. */
const FACTS_MS_MAX = 2_000;

/** A context that is kept, whatever share of traces the engine keeps. */
export class CallTrace {
  readonly id = randomBytes(16).toString('hex');
  readonly traceparent = `00-${this.id}-${randomBytes(8).toString('hex')}-01`;

  /** `worker=api-1` and `trace=4bf9…`, as far as the engine can tell (CLI-22). */
  async facts(engine: EngineConnection, functionId: string): Promise<readonly string[]> {
    const spans = await this.#seen(engine);
    if (spans === undefined) return [];
    const call = spans.find(({ name }) => name === `call ${functionId}`);
    const [, worker] = call?.attributes.find(([key]) => key === 'svc.worker') ?? [];
    return [...(worker === undefined ? [] : [`worker=${stripUnsafe(worker)}`]), `trace=${this.id}`];
  }

  /** Whether it can be looked at here. */
  async isKept(engine: EngineConnection): Promise<boolean> {
    return ((await this.#seen(engine)) ?? []).length > 0;
  }

  /** Spans that are there already; none where all go to a collector; undefined where nobody keeps the trace. */
  async #seen(engine: EngineConnection): Promise<readonly TreeSpan[] | undefined> {
    const question = { trace_id: this.id };
    try {
      const answer = await engine.call('engine::traces::tree', question, { timeoutMs: FACTS_MS_MAX });
      const spans = flatSpans(recordsIn(answer, 'roots').map(readSpan));
      return spans.length === 0 ? undefined : spans;
    } catch (error) {
      return isSvcError(error, 'memory_exporter_not_enabled') ? [] : undefined;
    }
  }

  /** Draws it on stderr, once it seems to be whole. */
  async show(engine: EngineConnection, { output, terminal }: Audience): Promise<void> {
    const roots = await this.#whole(engine).catch((error: unknown) => {
      const failure = explainNoMemory(error);
      output.warn(failure instanceof Error ? failure.message : String(failure));
      return [];
    });
    if (roots.length === 0) return;
    const layout = layoutTrace(roots, terminal.now() * 1e6);
    const { paintErr } = output;
    // Boxes and bars are for terminals that can show them (CLI-5).
    const lines =
      terminal.err.isTerminal && terminal.env.TERM !== 'dumb'
        ? drawTrace(layout, { columns: terminal.err.columns ?? 80, paint: paintErr, logs: [] })
        : layout.rows.map(({ span, depth, durationMs }) => {
            const facts = [span.name, span.service_name, formatDuration(durationMs), span.status_description ?? ''];
            return `${'  '.repeat(depth)}${facts.filter(Boolean).map(stripUnsafe).join('  ')}`;
          });
    terminal.err.write(`${[headline(layout, paintErr), ...lines].join('\n')}\n`);
  }

  /** Until nothing in it runs and two looks saw the same; what comes later is missing here. */
  async #whole(engine: EngineConnection): Promise<TreeSpan[]> {
    let seen: TreeSpan[] = [];
    for (let look = 0; look < LOOKS_MAX; look++) {
      const roots = await readTrace(engine, this.id).catch((error: unknown) => {
        if (isSvcError(error)) throw error;
        // It is not there yet.
        if (error instanceof CliFailure) return [];
        throw error;
      });
      const spans = flatSpans(roots);
      const isQuiet = spans.length > 0 && spans.every(({ pending }) => pending !== true);
      if (isQuiet && spans.length === flatSpans(seen).length) return roots;
      seen = roots;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return seen;
  }
}
