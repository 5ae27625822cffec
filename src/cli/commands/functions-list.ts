import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { isRecord, type JsonRecord, recordsIn, textIn, textsIn } from '../records.ts';
import type { Column } from '../table.ts';

export const functionsList = defineCommand({
  name: 'functions list',
  summary: 'List the functions that can be called now.',
  flags: {
    ns: { kind: 'text', placeholder: '<namespace>', help: 'Only ids that begin with <namespace>::' },
    search: { kind: 'text', placeholder: '<text>', help: 'Only ids and descriptions that contain the text.' },
    internal: { kind: 'switch', help: 'Also functions of the engine itself.' },
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
    const records = recordsIn(answer, 'functions');
    output.printRows({ columns: COLUMNS, rows: records, records });
    if (records.length === 0) output.note(emptyNote(flags));
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

function emptyNote(flags: { ns: string | undefined; search: string | undefined }): string {
  if (flags.ns === undefined && flags.search === undefined) {
    return 'No worker has registered a function yet. The functions of the engine itself: svc functions list --internal';
  }
  return 'No function matches. Without --ns and --search, all are listed.';
}
