import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { formatTime, type TimeStyle } from '../../text/times.ts';
import { stateInWords } from './worker-info.ts';

const FLAGS = {
  search: { kind: 'text', placeholder: '<text>', help: 'Only workers whose name or id contains the text.' },
  status: { kind: 'text', placeholder: '<status>', help: 'Only workers in this state, as the column shows it.' },
  ...listFlags('workers'),
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const workersList = defineCommand({
  name: 'worker list',
  summary: 'List the workers.',
  details: [
    'Lists connected workers, and workers of the configuration that are not connected, with the reason. Modules ' +
      'of the engine are workers, too; their runtime is engine.',
  ],
  flags: FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc worker list', shows: 'Name, state, functions and calls in flight.' },
    { line: 'svc worker list -o wide --time utc', shows: 'With ids, addresses and exact times.' },
    { line: 'svc worker list --watch', shows: 'The same every second, until Ctrl-C.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags, output, terminal } = context;
    return await showList(context, { what: 'workers' }, async (engine) => {
      const all = await listWorkers(engine, flags.search);
      const rows = all.filter((row) => flags.status === undefined || textIn(row, 'status') === flags.status);
      const none = rows.length === all.length ? 'No worker is connected.' : 'No worker is in this state.';
      return { columns: columns(output.timeStyle, terminal.now()), rows, none };
    });
  },
});

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
    { name: 'engine', wideOnly: true, text: field('engine') },
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
