import { withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, limitFlag, showList, WATCH_FLAG } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';

const FLAGS = {
  limit: limitFlag('engines'),
  watch: WATCH_FLAG,
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const clusterStatus = defineCommand({
  name: 'cluster status',
  summary: 'List the engines of the cluster.',
  details: [
    'Lists the engines as the one that answers sees them. An engine that is unreachable is connected to NATS and ' +
      'cannot be called; one that does not renew its key for 6 s is not listed any more.',
  ],
  flags: FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc cluster status', shows: 'Address, state, workers, functions and calls of each engine.' },
    { line: 'svc cluster status --json', shows: 'The same for programs.' },
    { line: 'svc cluster status --watch', shows: 'The same every second, until Ctrl-C.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags, output } = context;
    // One document: scripts read whether something is wrong next to the engines.
    if (output.format === 'json' && !flags.watch) {
      output.printJson(await withEngine(context, (engine) => engine.call('engine::cluster::status', {})));
      return EXIT.done;
    }
    return await showList(context, { what: 'engines' }, async (engine) => {
      const status = await engine.call('engine::cluster::status', {});
      const trouble = isRecord(status) ? textIn(status, 'trouble') : '';
      if (trouble !== '') output.warn(trouble);
      return { columns: COLUMNS, rows: recordsIn(status, 'engines'), none: ALONE };
    });
  },
});

const ALONE = 'This engine is not part of a cluster: its configuration has no entry cluster.';

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'engine', cut: 'middle', text: field('id') },
  { name: 'address', text: (record) => textIn(record, 'address') || '(starting)', raw: field('address') },
  { name: 'status', text: field('status') },
  { name: 'zone', text: field('zone') },
  { name: 'routers', align: 'right', wideOnly: true, text: (record) => String(numberIn(record, 'routers') ?? 1) },
  { name: 'workers', align: 'right', text: workers },
  { name: 'functions', align: 'right', text: number('functions') },
  { name: 'calls', align: 'right', text: number('calls') },
  { name: 'version', text: field('version') },
];

function field(name: string): (record: JsonRecord) => string {
  return (record) => textIn(record, name);
}

/** Engines of the version before do not report them. */
function workers({ workers: counts }: JsonRecord): string {
  return isRecord(counts) ? String(numberIn(counts, 'connected') ?? '') : '';
}

function number(name: string): (record: JsonRecord) => string {
  return (record) => String(numberIn(record, name) ?? '');
}
