import { type EngineConnection, withEngine } from '../../engine/connection.ts';
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
    state: {
      kind: 'choice',
      placeholder: '<state>',
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
    limit: {
      kind: 'count',
      placeholder: '<n>',
      min: 1,
      max: 1_000_000,
      fallback: '100',
      help: 'Largest number of jobs.',
    },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    {
      line: 'svc queue jobs mail --state retrying',
      shows: 'Jobs that failed and will be retried, with their last error.',
    },
    { line: 'svc queue jobs mail --function mail::send --json', shows: 'The jobs of one function, for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const [queue = ''] = operands;
    const filter = {
      queue,
      ...(flags.state !== undefined && { state: flags.state }),
      ...(flags.function !== undefined && { function_id: flags.function }),
      ...(flags.error !== undefined && { error: flags.error }),
      ...(flags['min-attempt'] !== undefined && { attempt_min: flags['min-attempt'] }),
    };
    const { jobs, isCut } = await withEngine(context, (engine) => readJobs(engine, filter, flags.limit));
    const time = (name: string): Column<JsonRecord> => ({
      name,
      text: (row) => timeText(numberIn(row, name), output, terminal),
      raw: (row) => isoText(numberIn(row, name)),
    });
    output.printRows({
      columns: [...COLUMNS, time('enqueued_at'), { ...time('due_at'), wideOnly: true }, ERROR],
      rows: jobs,
      records: jobs.map((job) => withIsoTimes(job, { enqueued_at: 'ms', due_at: 'ms' })),
    });
    if (jobs.length === 0) output.note(`No such jobs in '${queue}'. Dead letters: svc queue dlq list`);
    if (isCut) output.note(`There are more: the limit is ${flags.limit} (--limit).`);
    return EXIT.done;
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
