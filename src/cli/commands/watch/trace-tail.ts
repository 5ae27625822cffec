import { follow } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { padEnd, padStart, stripUnsafe } from '../../text/display-text.ts';
import { isRecord, numberIn, recordsIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import { clockText } from './log-lines.ts';
import { explainNoMemory } from './spans.ts';
import { readTraceRow, statusText, TRACE_FILTER_FLAGS, type TraceRow, traceQuery } from './trace-list.ts';

const FLAGS = {
  ...TRACE_FILTER_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

const POLL_MS = 500;
const LIMIT = 1_000;
/** A trace that began longer ago is not watched any more, unless it is still running. */
const WINDOW_MS = 60_000;

export const traceTail = defineCommand({
  name: 'trace tail',
  summary: 'Print traces as they end.',
  details: [
    'Runs until interrupted, reconnects after a lost connection, and prints a line where traces may be missing. With ' +
      '--json, one object per line.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc trace tail', shows: 'Every trace.' },
    { line: 'svc trace tail --status error --json', shows: 'Failed traces, one JSON object per line.' },
  ],
  exitCodes: [EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, output, terminal } = context;
    const startedMs = terminal.now();
    const query = { ...traceQuery(flags), sort_by: 'start_time', sort_order: 'desc', limit: LIMIT };
    const printed = new Map<string, number>();
    let isFirst = true;
    return await follow(context, POLL_MS, async (engine) => {
      const sinceMs = Math.max(startedMs, terminal.now() - WINDOW_MS);
      const answer = await engine.call('engine::traces::list', { ...query, start_time: sinceMs }).catch((error) => {
        throw explainNoMemory(error);
      });
      if (isFirst) output.note(`Watching traces at ${engine.address}. Stop with Ctrl-C.`);
      isFirst = false;
      const total = isRecord(answer) ? (numberIn(answer, 'total') ?? 0) : 0;
      if (total > LIMIT)
        output.warn(`${total - LIMIT} traces of the last minute are not watched; use a narrower filter.`);
      for (const row of recordsIn(answer, 'spans').map(readTraceRow).reverse()) {
        const isWanted = row.status !== 'pending' || flags.status === 'pending';
        if (!isWanted || printed.has(row.trace_id)) continue;
        printed.set(row.trace_id, terminal.now());
        print(context, row);
      }
      forget(printed, terminal.now() - 2 * WINDOW_MS);
    });
  },
});

function forget(printed: Map<string, number>, beforeMs: number): void {
  for (const [traceId, atMs] of printed) {
    if (atMs >= beforeMs) return;
    printed.delete(traceId);
  }
}

function print({ output, terminal }: Context<typeof FLAGS>, row: TraceRow): void {
  if (output.jsonAsked) return output.printLine(row);
  const { paintOut } = output;
  const paint = row.status === 'error' ? paintOut.red : row.status === 'ok' ? paintOut.green : paintOut.yellow;
  const fields = [
    paintOut.dim(clockText(Date.parse(row.started_at), output.timeStyle, terminal.now())),
    paintOut.dim(row.trace_id.slice(0, 16)),
    paint(padEnd(statusText(row), 7)),
    padStart(formatDuration(row.duration_ms), 8),
    padStart(String(row.span_count), 4),
    `${stripUnsafe(row.name)}  ${paintOut.dim(stripUnsafe(row.service))}`,
  ];
  terminal.out.write(`${fields.join(output.plain ? '\t' : '  ')}\n`);
}
