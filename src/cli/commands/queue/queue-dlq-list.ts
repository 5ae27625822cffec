// `svc queue dlq list` and `show`: dead letters, grouped by error on request, and one of them in detail.

import { isSvcError } from '../../../sdk/calls/errors.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, type Listing, listFlags, showList } from '../../engine/listing.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { formatPairs, stripUnsafeLines } from '../../text/display-text.ts';
import type { Output } from '../../text/output.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import type { Terminal } from '../../text/terminal.ts';
import { chooseLetter, deadLettersOf, queuesWithDeadLetters } from './dead-letters.ts';
import { isoText, timeText, withIsoTimes } from './queues.ts';

const FLAGS = {
  'group-by': { kind: 'choice', placeholder: '<field>', choices: ['error'], help: 'One line for each kind of error.' },
  ...listFlags('dead letters', { fallback: 100 }),
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type ListContext = Context<typeof FLAGS>;

export const queueDlqList = defineCommand({
  name: 'queue dlq list',
  summary: 'List dead letters: jobs that failed for good.',
  operands: { usage: '[queue]', min: 0, max: 1, help: 'The queue or topic. Without it, all that have dead letters.' },
  details: ['Newest first. Groups replace numbers and ids in the errors: <n>, <id>.'],
  flags: FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc queue dlq list mail', shows: 'The dead letters of one queue.' },
    { line: 'svc queue dlq list --group-by error', shows: 'The errors of all queues, and how often each occurred.' },
  ],
  exitCodes: [EXIT.notFound, ...LIST_EXIT_CODES],
  async run(context) {
    const isGrouped = context.flags['group-by'] !== undefined;
    return await showList(context, { what: isGrouped ? 'groups' : 'dead letters' }, (engine) =>
      isGrouped ? readGroups(context, engine) : readLetters(context, engine),
    );
  },
});

async function readLetters(context: ListContext, engine: EngineConnection): Promise<Listing<JsonRecord>> {
  const { flags, operands } = context;
  const rows: JsonRecord[] = [];
  for (const queue of await queuesWithDeadLetters(engine, operands[0])) {
    for await (const row of deadLettersOf(engine, queue)) {
      if (rows.push({ queue, ...row }) > flags.limit) break;
    }
  }
  return {
    columns: [...COLUMNS, timeColumn(context, 'failed_at'), ERROR],
    rows,
    records: rows.map((row) => withIsoTimes(row, { failed_at: 's', first_failed_at: 's', enqueued_at: 's' })),
    total: rows.length > flags.limit ? Number.POSITIVE_INFINITY : rows.length,
    none: 'No dead letters.',
  };
}

async function readGroups(context: ListContext, engine: EngineConnection): Promise<Listing<JsonRecord>> {
  const { operands, output } = context;
  const groups: JsonRecord[] = [];
  for (const queue of await queuesWithDeadLetters(engine, operands[0])) {
    const answer = await engine.call('engine::queue::dlq_groups', { queue });
    groups.push(...recordsIn(answer, 'groups').map((group) => ({ queue, ...group })));
    if (isRecord(answer) && answer.complete === false) {
      output.warn(`'${queue}': only the newest ${textIn(answer, 'scanned')} dead letters were grouped.`);
    }
  }
  groups.sort((one, other) => (numberIn(other, 'count') ?? 0) - (numberIn(one, 'count') ?? 0));
  return {
    columns: [QUEUE, COUNT, timeColumn(context, 'last_failed_at'), ERROR],
    rows: groups,
    records: groups.map((group) => withIsoTimes(group, { first_failed_at: 's', last_failed_at: 's' })),
    none: 'No dead letters.',
  };
}

function timeColumn({ output, terminal }: ListContext, name: string): Column<JsonRecord> {
  const unixMs = (row: JsonRecord): number => (numberIn(row, name) ?? 0) * 1_000;
  return { name, text: (row) => timeText(unixMs(row), output, terminal), raw: (row) => isoText(unixMs(row)) };
}

const QUEUE: Column<JsonRecord> = { name: 'queue', cut: 'middle', text: (row) => textIn(row, 'queue') };
const COUNT: Column<JsonRecord> = { name: 'count', align: 'right', text: (row) => textIn(row, 'count') };
const ERROR: Column<JsonRecord> = { name: 'error', cut: 'end', text: (row) => textIn(row, 'error') };
const COLUMNS: readonly Column<JsonRecord>[] = [
  QUEUE,
  { name: 'id', text: (row) => textIn(row, 'id') },
  { name: 'function_id', cut: 'middle', text: (row) => textIn(row, 'function_id') },
  { name: 'reason', text: (row) => textIn(row, 'reason') },
  { name: 'retries', align: 'right', wideOnly: true, text: (row) => textIn(row, 'retries') },
  { name: 'size_bytes', align: 'right', wideOnly: true, text: (row) => textIn(row, 'size_bytes') },
];

export const queueDlqShow = defineCommand({
  name: 'queue dlq show',
  summary: 'Show one dead letter: error, attempts with their traces, payload.',
  operands: { usage: '<receipt>', min: 1, max: 1, help: 'The receipt, from svc queue dlq list.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue dlq show 0192f0c1-7a52-7000-8000-000100011234', shows: 'Why the job failed, and its payload.' },
    { line: 'svc queue dlq show 0192f0c1-7a52-7000-8000-000100011234 --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const readLetter = async (engine: EngineConnection): Promise<JsonRecord> => {
      const { queue, id } = await chooseLetter(engine, operands[0] ?? '');
      const answer = await engine.call('engine::queue::dlq_messages', { topic: queue, message_id: id });
      const [row] = Array.isArray(answer) ? answer : [];
      return { queue, ...(isRecord(row) ? row : {}), attempts: await readAttempts(engine, queue, id) };
    };
    const letter = await withEngine(context, readLetter, { printsValues: true });
    const moment = (field: string): string => timeText((numberIn(letter, field) ?? 0) * 1_000, output, terminal);
    const pairs: [string, string][] = [
      ...['queue', 'id', 'function_id', 'reason', 'retries', 'deliveries'].map((field): [string, string] => [
        field.replaceAll('_', ' '),
        textIn(letter, field),
      ]),
      ['enqueued', moment('enqueued_at')],
      ['first failed', moment('first_failed_at')],
      ['failed', moment('failed_at')],
    ];
    const text = [
      ...formatPairs(pairs),
      '',
      textIn(letter, 'error'),
      '',
      ...attemptLines(recordsIn(letter, 'attempts'), output, terminal),
      JSON.stringify(letter.payload, undefined, 2) ?? 'null',
    ];
    const document = withIsoTimes(letter, { failed_at: 's', first_failed_at: 's', enqueued_at: 's' });
    output.printDocument(document, stripUnsafeLines(text.join('\n')));
    return EXIT.done;
  },
});

/** Its failed attempts, the newest first. Brokers keep none of them. */
async function readAttempts(engine: EngineConnection, queue: string, id: string): Promise<JsonRecord[]> {
  const job = await engine.call('engine::queue::job', { messageReceiptId: id, queue }).catch((error: unknown) => {
    if (isSvcError(error)) return {};
    throw error;
  });
  return recordsIn(job, 'attempts')
    .map((attempt) => withIsoTimes(attempt, { at: 'ms' }))
    .reverse();
}

function attemptLines(attempts: readonly JsonRecord[], output: Output, terminal: Terminal): string[] {
  if (attempts.length === 0) return [];
  const rows = attempts.map((attempt): [string, string] => {
    const trace = textIn(attempt, 'trace_id');
    const at = timeText(Date.parse(textIn(attempt, 'at')), output, terminal);
    return [`attempt ${textIn(attempt, 'attempt')}`, [at, trace === '' ? '' : `trace ${trace}`].join('  ').trimEnd()];
  });
  return [...formatPairs(rows), ''];
}
