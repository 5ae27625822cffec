import { isSvcError } from '../../../sdk/calls/errors.ts';
import { type EngineConnection, follow, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { formatTime, type TimeStyle } from '../../text/times.ts';
import { stateInWords } from './worker-info.ts';

const FLAGS = {
  search: { kind: 'text', placeholder: '<text>', help: 'Only workers whose name or id contains the text.' },
  watch: { kind: 'switch', help: 'Refresh every second.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type ListContext = Context<typeof FLAGS>;

const WATCH_MS = 1_000;

export const workersList = defineCommand({
  name: 'workers list',
  summary: 'List the workers.',
  details: [
    'Lists connected workers, and workers of the configuration that are not connected, with the reason. Modules ' +
      'of the engine are workers, too; their runtime is engine. With --watch and --json, one line per second. svc ' +
      'worker list is the same command.',
  ],
  flags: FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc workers list', shows: 'Name, state, functions and calls in flight.' },
    { line: 'svc workers list -o wide --time utc', shows: 'With ids, addresses and exact times.' },
    { line: 'svc worker list --watch', shows: 'The same every second, until Ctrl-C.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, output } = context;
    if (flags.watch) return await watch(context);
    const records = await withEngine(context, (engine) => listWorkers(engine, flags.search));
    print(context, records);
    if (records.length === 0) output.note('No worker is connected.');
    return EXIT.done;
  },
});

/** Continues while the engine is not reachable. */
function watch(context: ListContext): Promise<never> {
  const { flags, output, terminal } = context;
  return follow(context, WATCH_MS, async (engine) => {
    const records = await listWorkers(engine, flags.search);
    if (output.jsonAsked) {
      output.printLine({ time: new Date(terminal.now()).toISOString(), workers: records });
    } else {
      if (terminal.out.isTerminal) terminal.out.write('\u001b[H\u001b[2J');
      print(context, records);
    }
  });
}

function print({ output, terminal }: ListContext, records: readonly JsonRecord[]): void {
  output.printRows({ columns: columns(output.timeStyle, terminal.now()), rows: records, records });
}

async function listWorkers(engine: EngineConnection, search: string | undefined): Promise<JsonRecord[]> {
  const wanted = search === undefined ? {} : { search };
  const connected = recordsIn(await engine.call('engine::workers::list', wanted), 'workers');
  // Workers with problems come first: below the modules they would be overlooked.
  return [...(await absentOnes(engine, connected, search ?? '')), ...connected];
}

/** Workers of the configuration that are not connected (PD-65). */
async function absentOnes(engine: EngineConnection, connected: readonly JsonRecord[], search: string) {
  const names = new Set(connected.map((record) => textIn(record, 'name')));
  const configured = await engine.call('worker::list', {}).catch((error: unknown) => {
    // A restricted connection may not see the programs of the engine's machine.
    if (isSvcError(error) && error.code === 'FORBIDDEN') return { workers: [] };
    throw error;
  });
  return recordsIn(configured, 'workers')
    .filter((worker) => !names.has(textIn(worker, 'name')) && textIn(worker, 'name').includes(search))
    .map((worker) => ({
      name: worker.name,
      status: textIn(worker, 'state') === 'running' ? 'not connected' : stateInWords(worker),
      function_count: 0,
      active_invocations: 0,
      runtime: worker.kind,
      version: worker.version,
      description: worker.description,
    }));
}

function columns(timeStyle: TimeStyle, nowMs: number): readonly Column<JsonRecord>[] {
  return [
    { name: 'name', cut: 'middle', text: (record) => textIn(record, 'name') || '(unnamed)', raw: field('name') },
    { name: 'status', text: field('status') },
    { name: 'functions', align: 'right', text: field('function_count') },
    { name: 'in_flight', align: 'right', text: field('active_invocations') },
    {
      name: 'connected',
      text: (record) => showTime(numberIn(record, 'connected_at_ms'), (ms) => formatTime(ms, timeStyle, nowMs)),
      raw: (record) => showTime(numberIn(record, 'connected_at_ms'), (ms) => new Date(ms).toISOString()),
    },
    { name: 'runtime', text: field('runtime') },
    { name: 'version', text: field('version') },
    { name: 'id', wideOnly: true, text: field('id') },
    { name: 'ip_address', wideOnly: true, text: field('ip_address') },
    { name: 'os', wideOnly: true, text: field('os') },
    { name: 'description', wideOnly: true, cut: 'end', text: field('description') },
  ];
}

function field(name: string): (record: JsonRecord) => string {
  return (record) => textIn(record, name);
}

function showTime(unixMs: number | undefined, format: (unixMs: number) => string): string {
  return unixMs === undefined ? '' : format(unixMs);
}
