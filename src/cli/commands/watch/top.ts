import type { EngineConnection } from '../../engine/connection.ts';
import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { follow } from '../../text/follow.ts';
import {
  type CallSample,
  compareSamples,
  readQueues,
  readWorkers,
  sampleCalls,
  type TopFigures,
} from './top-sample.ts';
import { topLines } from './top-screen.ts';

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
      '95th   percentile counts from the start of the engine. With -o jsonl, one object per sample.',
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
        await screen.look(engine);
        await new Promise((resolve) => setTimeout(resolve, flags.interval));
        await screen.look(engine);
      });
      return EXIT.done;
    }
    return await follow(context, flags.interval, (engine) => screen.look(engine));
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

  async look(engine: EngineConnection): Promise<void> {
    const { terminal } = this.#context;
    const sample = await sampleCalls(engine, terminal.elapsedMs());
    const before = this.#before;
    this.#before = sample;
    // Rates need two samples.
    if (before === undefined) return;
    const functions = compareSamples(before, sample);
    const total = (name: 'calls_per_second' | 'errors_per_second') =>
      Math.round(functions.reduce((sum, row) => sum + row[name], 0) * 100) / 100;
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
