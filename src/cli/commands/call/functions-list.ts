import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord, type JsonRecord, recordsIn, textIn, textsIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';

export const functionsList = defineCommand({
  name: 'functions list',
  summary: 'List the functions that can be called.',
  flags: {
    ns: { kind: 'text', placeholder: '<namespace>', help: 'Only ids that begin with <namespace>::' },
    search: { kind: 'text', placeholder: '<text>', help: 'Only ids and descriptions that contain the text.' },
    internal: { kind: 'switch', help: 'Include the functions of the engine itself.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc functions list --ns orders', shows: 'The functions whose id begins with orders::' },
    { line: 'svc functions list --internal --json', shows: 'All of them, for a script.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output } = context;
    const answer = await withEngine(context, (engine) =>
      engine.call('engine::functions::list', {
        include_internal: flags.internal,
        ...(flags.ns === undefined ? {} : { prefix: `${flags.ns.replace(/::$/, '')}::` }),
        ...(flags.search === undefined ? {} : { search: flags.search }),
      }),
    );
    const all = recordsIn(answer, 'functions');
    const records = flags.internal ? all : all.filter((record) => !isOfModule(record));
    output.printRows({ columns: COLUMNS, rows: records, records });
    if (records.length === 0) output.note(emptyNote(flags, all.length > 0));
    return EXIT.done;
  },
});

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'function_id', cut: 'middle', text: (record) => textIn(record, 'function_id') },
  { name: 'workers', cut: 'end', text: (record) => workerNames(record).join(', ') },
  { name: 'triggers', text: (record) => triggerTypes(record).join(', ') },
  { name: 'status', text: (record) => textIn(record, 'status') },
  { name: 'namespace', wideOnly: true, text: (record) => textIn(record, 'namespace') },
  { name: 'description', cut: 'end', text: (record) => textIn(record, 'description') },
];

function workerNames(record: JsonRecord): string[] {
  const names = recordsIn(record, 'workers').map((worker) => textIn(worker, 'name'));
  return names.length > 0 ? names : [textIn(record, 'worker_name')];
}

function triggerTypes(record: JsonRecord): string[] {
  return isRecord(record.triggers) ? textsIn(record.triggers, 'types') : [];
}

/**
 * The engine's answer leaves out only `engine::*`, as other clients expect. A module is a worker whose id equals its
 * name; the engine generates the ids of connections.
 */
function isOfModule(record: JsonRecord): boolean {
  const workers = recordsIn(record, 'workers');
  return workers.length > 0 && workers.every((worker) => textIn(worker, 'id') === textIn(worker, 'name'));
}

function emptyNote({ ns, search }: { ns: string | undefined; search: string | undefined }, areHidden: boolean): string {
  if (ns === undefined && search === undefined) {
    return 'No worker has registered a function yet. List the functions of the engine itself with --internal.';
  }
  return areHidden
    ? 'No function of a worker matches. Include the functions of the engine itself with --internal.'
    : 'No function matches. Omit --ns and --search to list all functions.';
}
