// The trace of a call that the command line makes itself: its context, and its drawing afterwards (CLI-21).

import { randomBytes } from 'node:crypto';
import { layoutTrace } from '../../../core/telemetry/spans/trace-layout.ts';
import type { TreeSpan } from '../../../core/telemetry/spans/trace-tree.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure } from '../../kernel/failures.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import type { ProgressTarget } from '../../text/progress-line.ts';
import { recordsIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import { explainNoMemory, flatSpans, readSpan, readTrace } from '../watch/spans.ts';
import { drawTrace, headline } from '../watch/trace-drawing.ts';

/** Workers send their spans in batches, ten a second. */
const POLL_MS = 150;
const POLLS_MAX = 20;
/** The answer is printed already: a summary is not worth a long wait. */
const SUMMARY_MS_MAX = 2_000;

/** A context with the sampled flag: the trace is kept, whatever share of traces the engine keeps. */
export class CallTrace {
  readonly id = randomBytes(16).toString('hex');
  readonly traceparent = `00-${this.id}-${randomBytes(8).toString('hex')}-01`;

  /** `worker=api-1` and `trace=4bf9…`, as far as the engine knows them (CLI-22). */
  async summary(engine: EngineConnection, functionId: string): Promise<readonly string[]> {
    const spans = await this.#spans(engine);
    if (spans === undefined) return [];
    const call = spans.find(({ name }) => name === `call ${functionId}`);
    const [, worker] = call?.attributes.find(([key]) => key === 'svc.worker') ?? [];
    return [...(worker === undefined ? [] : [`worker=${stripUnsafe(worker)}`]), `trace=${this.id}`];
  }

  /** Whether the engine has the trace. */
  async isKept(engine: EngineConnection): Promise<boolean> {
    return ((await this.#spans(engine)) ?? []).length > 0;
  }

  /** The spans so far; none when all go to a collector; undefined when the trace is not kept. */
  async #spans(engine: EngineConnection): Promise<readonly TreeSpan[] | undefined> {
    const question = { trace_id: this.id };
    try {
      const answer = await engine.call('engine::traces::tree', question, { timeoutMs: SUMMARY_MS_MAX });
      const spans = flatSpans(recordsIn(answer, 'roots').map(readSpan));
      return spans.length === 0 ? undefined : spans;
    } catch (error) {
      return isSvcError(error, 'memory_exporter_not_enabled') ? [] : undefined;
    }
  }

  /** Draws the trace on stderr, once it seems complete. */
  async show(engine: EngineConnection, { output, terminal }: ProgressTarget): Promise<void> {
    const roots = await this.#whole(engine).catch((error: unknown) => {
      const failure = explainNoMemory(error);
      output.warn(failure instanceof Error ? failure.message : String(failure));
      return [];
    });
    if (roots.length === 0) return;
    const layout = layoutTrace(roots, terminal.now() * 1e6);
    const { paintErr } = output;
    // Boxes and bars are drawn only on terminals that can show them (CLI-5).
    const lines =
      terminal.err.isTerminal && terminal.env.TERM !== 'dumb'
        ? drawTrace(layout, { columns: terminal.err.columns ?? 80, paint: paintErr, logs: [] })
        : layout.rows.map(({ span, depth, durationMs }) => {
            const columns = [span.name, span.service_name, formatDuration(durationMs), span.status_description ?? ''];
            return `${'  '.repeat(depth)}${columns.filter(Boolean).map(stripUnsafe).join('  ')}`;
          });
    terminal.err.write(`${[headline(layout, paintErr), ...lines].join('\n')}\n`);
  }

  /** Waits until no span is running and two reads are equal; spans that arrive later are missing. */
  async #whole(engine: EngineConnection): Promise<TreeSpan[]> {
    let seen: TreeSpan[] = [];
    for (let poll = 0; poll < POLLS_MAX; poll++) {
      const roots = await readTrace(engine, this.id).catch((error: unknown) => {
        if (isSvcError(error)) throw error;
        // The engine does not have the trace yet.
        if (error instanceof CliFailure) return [];
        throw error;
      });
      const spans = flatSpans(roots);
      const isQuiet = spans.length > 0 && spans.every(({ pending }) => pending !== true);
      if (isQuiet && spans.length === flatSpans(seen).length) return roots;
      seen = roots;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return seen;
  }
}
