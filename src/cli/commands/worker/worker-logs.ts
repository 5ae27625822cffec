import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import { formatTime, momentOf } from '../../text/times.ts';

const FLAGS = {
  follow: { kind: 'switch', short: 'f', help: 'Keep running and print new lines.' },
  limit: {
    kind: 'count',
    short: 'n',
    placeholder: '<n>',
    fallback: '100',
    min: 1,
    max: 5_000,
    help: 'Largest number of lines.',
  },
  since: { kind: 'text', placeholder: '<time>', help: 'Only newer lines: 15m, an ISO time, Unix ms.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type LogsContext = Context<typeof FLAGS>;

const LOOK_INTERVAL_MS = 250;

export const workerLogs = defineCommand({
  name: 'worker logs',
  summary: 'Print the output of a worker.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: [
    'The engine keeps the last 5 000 lines or 1 MiB that each worker wrote to stdout and stderr, across restarts of ' +
      'the worker, and adds lines about its process. With --json and -f, one object per line.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker logs orders -n 20', shows: 'The last twenty lines.' },
    { line: 'svc worker logs orders -f --since 10m', shows: 'The last ten minutes, and what follows.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    return await withEngine(context, (engine) => print(engine, context));
  },
});

async function print(engine: EngineConnection, context: LogsContext) {
  const { flags, operands, output, terminal } = context;
  const name = operands[0] ?? '';
  const sinceMs = momentOf('--since', flags.since, terminal.now());
  const since = sinceMs === undefined ? {} : { since: sinceMs };
  const first = await engine.call('worker::logs', { name, limit: flags.limit, ...since });
  if (!flags.follow) {
    const records = recordsIn(first, 'lines');
    if (output.jsonAsked) output.printRows({ columns: [], rows: [], records });
    else for (const line of records) printLine(context, line);
    return EXIT.done;
  }
  let after = show(context, first, 0);
  for (;;) {
    await Promise.race([pause(), engine.lost]);
    after = show(context, await engine.call('worker::logs', { name, after, limit: 5_000 }), after);
  }
}

/** Returns the number of the last line that was shown. */
function show(context: LogsContext, answer: unknown, after: number): number {
  const dropped = isRecord(answer) ? (numberIn(answer, 'dropped') ?? 0) : 0;
  if (dropped > 0) context.output.warn(`${dropped} lines were written faster than they were read and are lost.`);
  let last = after;
  for (const line of recordsIn(answer, 'lines')) {
    printLine(context, line);
    last = numberIn(line, 'seq') ?? last;
  }
  return last;
}

function printLine({ output, terminal }: LogsContext, line: JsonRecord): void {
  if (output.jsonAsked) return output.printLine(line);
  const time = formatTime(numberIn(line, 'at_ms') ?? 0, output.timeStyle === 'utc' ? 'utc' : 'local', terminal.now());
  const { paintOut } = output;
  const stream = textIn(line, 'stream');
  const text = stripUnsafe(textIn(line, 'text'));
  const shown = stream === 'stderr' ? paintOut.red(text) : stream === 'svc' ? paintOut.dim(`· ${text}`) : text;
  terminal.out.write(`${paintOut.dim(time)}  ${shown}\n`);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
}
