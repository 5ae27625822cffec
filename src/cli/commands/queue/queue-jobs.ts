import type { EngineConnection } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { findQueue, isoText, timeText, withIsoTimes } from './queues.ts';

export const queueJobs = defineCommand({
  name: 'queue jobs',
  summary: 'List the jobs of a queue in the order of their arrival.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The name, from svc queue list.' },
  details: ['Dead letters are not included; list them with svc queue dlq list.'],
  flags: {
    status: {
      kind: 'choice',
      placeholder: '<status>',
      choices: ['waiting', 'delayed', 'running', 'retrying', 'waiting_for_worker'],
      help: 'Only jobs in this state.',
    },
    function: { kind: 'text', placeholder: '<id>', help: 'Only jobs of this function.' },
    error: { kind: 'text', placeholder: '<text>', help: 'Only jobs whose last error contains the text.' },
    'min-attempt': {
      kind: 'count',
      placeholder: '<n>',
      min: 0,
      max: 1_000,
      help: 'Only jobs with at least this number of attempts.',
    },
    ...listFlags('jobs', { fallback: 100 }),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    {
      line: 'svc queue jobs mail --status retrying',
      shows: 'Jobs that failed and will be retried, with their last error.',
    },
    { line: 'svc queue jobs mail --function mail::send --json', shows: 'The jobs of one function, for a script.' },
  ],
  exitCodes: [EXIT.notFound, ...LIST_EXIT_CODES],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const [queue = ''] = operands;
    const filter = {
      queue,
      ...(flags.status !== undefined && { state: flags.status }),
      ...(flags.function !== undefined && { function_id: flags.function }),
      ...(flags.error !== undefined && { error: flags.error }),
      ...(flags['min-attempt'] !== undefined && { attempt_min: flags['min-attempt'] }),
    };
    const time = (name: string): Column<JsonRecord> => ({
      name,
      text: (row) => timeText(numberIn(row, name), output, terminal),
      raw: (row) => isoText(numberIn(row, name)),
    });
    return await showList(context, { what: 'jobs' }, async (engine) => {
      const { jobs, isCut } = await readJobs(engine, filter, flags.limit);
      return {
        columns: [...COLUMNS, time('enqueued_at'), { ...time('due_at'), wideOnly: true }, ERROR],
        rows: jobs,
        records: jobs.map((job) => withIsoTimes(job, { enqueued_at: 'ms', due_at: 'ms' })),
        total: isCut ? Number.POSITIVE_INFINITY : jobs.length,
        none: `No such jobs in '${queue}'. Dead letters: svc queue dlq list`,
      };
    });
  },
});

async function readJobs(
  engine: EngineConnection,
  filter: { readonly queue: string },
  limit: number,
): Promise<{ readonly jobs: JsonRecord[]; readonly isCut: boolean }> {
  await findQueue(engine, filter.queue);
  const jobs: JsonRecord[] = [];
  for (let cursor = ''; ; ) {
    const answer = await engine.call('engine::queue::jobs', { ...filter, cursor, limit: Math.min(1_000, limit) });
    jobs.push(...recordsIn(answer, 'items'));
    const next = isRecord(answer) ? textIn(answer, 'next_cursor') : '';
    if (jobs.length >= limit || next === '') {
      return { jobs: jobs.slice(0, limit), isCut: jobs.length > limit || (jobs.length === limit && next !== '') };
    }
    cursor = next;
  }
}

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'messageReceiptId', text: (row) => textIn(row, 'messageReceiptId') },
  { name: 'state', text: (row) => textIn(row, 'state') },
  { name: 'attempt', align: 'right', text: (row) => textIn(row, 'attempt') },
  { name: 'function_id', cut: 'middle', text: (row) => textIn(row, 'function_id') },
  { name: 'size_bytes', align: 'right', wideOnly: true, text: (row) => textIn(row, 'size_bytes') },
];

const ERROR: Column<JsonRecord> = { name: 'error', cut: 'end', text: (row) => textIn(row, 'error') };
