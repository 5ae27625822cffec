// `svc top`: samples of the busiest functions, queues and workers, as lines that fit into the terminal.

import { type EngineConnection, follow, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import type { Painter } from '../../text/colour.ts';
import { type Column, formatTable } from '../../text/table.ts';
import { formatDuration } from '../../text/times.ts';
import {
  type CallSample,
  compareSamples,
  type FunctionFigures,
  type QueueFigures,
  readQueues,
  readWorkers,
  sampleCalls,
  type TopFigures,
  type WorkerFigures,
} from './top-sample.ts';

const FLAGS = {
  interval: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '2s',
    maxMs: 3_600_000,
    help: 'Time between two samples.',
  },
  once: { kind: 'switch', help: 'Print once and exit. Default without a terminal.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type TopContext = Context<typeof FLAGS>;

const ROWS_UNKNOWN = 24;

export const top = defineCommand({
  name: 'top',
  summary: 'Show the busiest functions, queues and workers, live.',
  details: [
    'Runs until interrupted and updates in place. Calls and errors per second are those of the last interval; the ' +
      '95th percentile counts from the start of the engine. With -o jsonl, one object per sample.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc top', shows: 'The busiest functions, the fullest queues, the workers.' },
    { line: 'svc top --once --interval 10s --json', shows: 'The figures of ten seconds, for a script.' },
  ],
  exitCodes: [EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, output, terminal } = context;
    const isMoving = terminal.out.isTerminal && terminal.env.TERM !== 'dumb';
    const screen = new Screen(context, isMoving);
    if (flags.once || (!isMoving && output.format !== 'jsonl')) {
      await withEngine(context, async (engine) => {
        await screen.poll(engine);
        await new Promise((resolve) => setTimeout(resolve, flags.interval));
        await screen.poll(engine);
      });
      return EXIT.done;
    }
    return await follow(context, flags.interval, (engine) => screen.poll(engine));
  },
});

class Screen {
  readonly #context: TopContext;
  readonly #isMoving: boolean;
  #before: CallSample | undefined;
  #drawnLines = 0;

  constructor(context: TopContext, isMoving: boolean) {
    this.#context = context;
    this.#isMoving = isMoving;
  }

  async poll(engine: EngineConnection): Promise<void> {
    const { terminal } = this.#context;
    const sample = await sampleCalls(engine, terminal.elapsedMs());
    const before = this.#before;
    this.#before = sample;
    // Rates need two samples.
    if (before === undefined) return;
    const functions = compareSamples(before, sample);
    const total = (name: 'calls_per_second' | 'errors_per_second') =>
      sample.isCounted ? Math.round(functions.reduce((sum, row) => sum + row[name], 0) * 100) / 100 : null;
    this.#show(engine.address, {
      time: new Date(terminal.now()).toISOString(),
      interval_ms: Math.round(sample.atMs - before.atMs),
      calls_per_second: total('calls_per_second'),
      errors_per_second: total('errors_per_second'),
      functions,
      queues: await readQueues(engine),
      workers: await readWorkers(engine, sample),
    });
  }

  #show(address: string, figures: TopFigures): void {
    const { output, terminal } = this.#context;
    if (output.format !== 'table') return output.printLine(figures);
    const { out } = terminal;
    const size = this.#isMoving
      ? { columns: out.columns ?? 80, rows: out.rows ?? ROWS_UNKNOWN }
      : { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };
    const lines = topLines(figures, address, size, output.paintOut);
    if (!this.#isMoving) {
      out.write(`${lines.join('\n')}\n`);
      return;
    }
    // Moves up to the start of the last screen, overwrites each line, and clears the rest.
    const up = this.#drawnLines === 0 ? '' : `\u001b[${this.#drawnLines}A`;
    out.write(`${up}\r${lines.map((line) => `${line}\u001b[K`).join('\n')}\n\u001b[J`);
    this.#drawnLines = lines.length;
  }
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const MIB = 1024 * 1024;

export function topLines(figures: TopFigures, address: string, size: ScreenSize, paint: Painter): string[] {
  const { functions, queues, workers } = figures;
  // Heading and blank line of each part, the first line, and the line of the cursor.
  const parts = [functions, queues, workers].filter((rows) => rows.length > 0).length;
  const free = Math.max(parts, size.rows - 2 - parts * 2);
  const shares = shareOut(free, [functions.length, queues.length, workers.length]);
  const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], share: number): string[] => {
    if (rows.length === 0) return [];
    const [heading = '', ...lines] = formatTable(columns, rows.slice(0, share), size.columns);
    return ['', paint.bold(heading), ...lines];
  };
  const head = [paint.bold(address), ...rates(figures, paint), `${workers.length} workers`];
  return [
    head.join('  '),
    ...table(FUNCTION_COLUMNS, functions, shares[0] ?? 0),
    ...table(QUEUE_COLUMNS, queues, shares[1] ?? 0),
    ...table(WORKER_COLUMNS, workers, shares[2] ?? 0),
  ];
}

function rates({ calls_per_second: calls, errors_per_second: errors }: TopFigures, paint: Painter): string[] {
  if (calls === null) return ['calls are not counted: set metrics_enabled of svc-observability'];
  const text = `${errors} errors/s`;
  return [`${calls} calls/s`, (errors ?? 0) > 0 ? paint.red(text) : text];
}

/** Each part gets an equal share of the lines; lines that a part does not need go to the first that needs more. */
export function shareOut(free: number, wanted: readonly number[]): number[] {
  const wanting = wanted.filter((count) => count > 0).length;
  const fair = Math.max(1, Math.floor(free / Math.max(1, wanting)));
  const shares = wanted.map((count) => Math.min(count, fair));
  let left = free - shares.reduce((sum, share) => sum + share, 0);
  for (const [index, count] of wanted.entries()) {
    const more = Math.max(0, Math.min(left, count - (shares[index] ?? 0)));
    shares[index] = (shares[index] ?? 0) + more;
    left -= more;
  }
  return shares;
}

const FUNCTION_COLUMNS: readonly Column<FunctionFigures>[] = [
  { name: 'function', cut: 'middle', text: (row) => row.function_id },
  { name: 'calls/s', align: 'right', text: (row) => row.calls_per_second.toFixed(1) },
  { name: 'errors/s', align: 'right', text: (row) => row.errors_per_second.toFixed(1) },
  { name: 'p95', align: 'right', text: (row) => (row.p95_ms === null ? '' : formatDuration(row.p95_ms)) },
  { name: 'calls', align: 'right', text: (row) => String(row.calls) },
  { name: 'errors', align: 'right', text: (row) => String(row.errors) },
];

const QUEUE_COLUMNS: readonly Column<QueueFigures>[] = [
  { name: 'queue', cut: 'middle', text: (row) => row.queue },
  { name: 'depth', align: 'right', text: (row) => String(row.depth) },
  { name: 'running', align: 'right', text: (row) => String(row.running) },
  { name: 'dead', align: 'right', text: (row) => String(row.dead) },
  { name: 'state', text: (row) => (row.paused ? 'paused' : 'open') },
];

const WORKER_COLUMNS: readonly Column<WorkerFigures>[] = [
  { name: 'worker', cut: 'middle', text: (row) => row.worker },
  { name: 'status', text: (row) => row.status },
  { name: 'functions', align: 'right', text: (row) => String(row.functions) },
  { name: 'in_flight', align: 'right', text: (row) => String(row.in_flight) },
  { name: 'cpu', align: 'right', text: (row) => (row.cpu_percent === null ? '' : `${row.cpu_percent.toFixed(0)} %`) },
  {
    name: 'memory',
    align: 'right',
    text: (row) => (row.memory_bytes === null ? '' : `${(row.memory_bytes / MIB).toFixed(0)} MiB`),
  },
];
