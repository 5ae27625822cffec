// `svc queue list` and `info`: the queues and topics with their jobs in each state, and one of them in detail.

import { withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { formatPairs, stripUnsafe } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, numberIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { findQueue, isoText, isReported, listQueues, NOT_REPORTED, timeText, withIsoTimes } from './queues.ts';

const FLAGS = {
  ...listFlags('queues'),
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type ListContext = Context<typeof FLAGS>;

export const queueList = defineCommand({
  name: 'queue list',
  summary: 'List queues and topics with the number of jobs in each state.',
  details: [
    'Queues with problems come first: by dead letters, then retries, then waiting jobs. With --watch, also jobs in ' +
      'and out per second.',
    'A - stands for a value that the adapter of a queue does not report: RabbitMQ does not count delayed jobs.',
  ],
  flags: FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc queue list', shows: 'How many jobs wait, run and have failed.' },
    { line: 'svc queue list --watch', shows: 'The same every second, until Ctrl-C.' },
    { line: 'svc queue list --json', shows: 'For a script.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const rates = new Rates(context.terminal.elapsedMs);
    return await showList(context, { what: 'queues' }, async (engine) => {
      const queues = (await listQueues(engine)).toSorted((one, other) => troubleOf(other) - troubleOf(one));
      const rows = context.flags.watch ? rates.next(queues) : queues;
      return {
        columns: [...COLUMNS, ...(context.flags.watch ? RATES : []), oldestColumn(context)],
        rows,
        records: rows.map(documentOf),
        none: 'There is no queue or topic.',
      };
    });
  },
});

/** Jobs in and out per second, between one reading and the next. */
class Rates {
  readonly #elapsedMs: () => number;
  #before = new Map<string, JsonRecord>();
  #beforeMs: number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#beforeMs = elapsedMs();
  }

  next(queues: readonly JsonRecord[]): JsonRecord[] {
    const nowMs = this.#elapsedMs();
    const seconds = Math.max((nowMs - this.#beforeMs) / 1_000, 0.001);
    const rows = queues.map((queue) => ({
      ...queue,
      ...ratesOf(queue, this.#before.get(textIn(queue, 'name')), seconds),
    }));
    this.#before = new Map(queues.map((queue) => [textIn(queue, 'name'), queue]));
    this.#beforeMs = nowMs;
    return rows;
  }
}

function ratesOf(queue: JsonRecord, before: JsonRecord | undefined, seconds: number) {
  const rate = (field: string): number =>
    before === undefined
      ? 0
      : Math.max(0, Math.round(((numberIn(queue, field) ?? 0) - (numberIn(before, field) ?? 0)) / seconds));
  return { in_per_second: rate('enqueued_total'), out_per_second: rate('finished_total') };
}

function oldestColumn({ output, terminal }: ListContext): Column<JsonRecord> {
  return {
    name: 'oldest_enqueued_at',
    text: (row) => {
      const oldestMs = numberIn(row, 'oldest_enqueued_at');
      return oldestMs === undefined && !isReported(row, 'oldest_enqueued_at')
        ? NOT_REPORTED
        : timeText(oldestMs, output, terminal);
    },
    raw: (row) => isoText(numberIn(row, 'oldest_enqueued_at')),
  };
}

function documentOf(queue: JsonRecord) {
  return withIsoTimes(queue, { oldest_enqueued_at: 'ms' });
}

function troubleOf(queue: JsonRecord): number {
  const count = (field: string): number => numberIn(queue, field) ?? 0;
  return count('dead') * 1e12 + count('retrying') * 1e6 + count('waiting') + count('waiting_for_worker');
}

const count = (name: string): Column<JsonRecord> => ({
  name,
  align: 'right',
  text: (row) => (isReported(row, name) ? textIn(row, name) : NOT_REPORTED),
  raw: (row) => (isReported(row, name) ? textIn(row, name) : ''),
});

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'name', cut: 'middle', text: (row) => textIn(row, 'name') },
  { name: 'type', text: (row) => textIn(row, 'type') || textIn(row, 'kind') },
  count('waiting'),
  count('running'),
  count('retrying'),
  { ...count('delayed'), wideOnly: true },
  { ...count('waiting_for_worker'), wideOnly: true },
  count('dead'),
  { name: 'paused', text: pauseOf },
  { ...count('concurrency'), wideOnly: true },
  { name: 'adapter', wideOnly: true, text: (row) => textIn(row, 'adapter') },
];

function pauseOf(row: JsonRecord): string {
  if (textIn(row, 'held_back') !== '') return 'held back';
  return row.paused === true ? 'paused' : '';
}

function heldBack(queue: JsonRecord): [string, string][] {
  const reason = textIn(queue, 'held_back');
  return reason === '' ? [] : [['held back', reason]];
}

const RATES = [count('in_per_second'), count('out_per_second')];

export const queueInfo = defineCommand({
  name: 'queue info',
  summary: 'Show one queue or topic: its settings and its jobs.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The name, from svc queue list.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue info mail', shows: 'Type, retries, concurrency, and the number of jobs in each state.' },
    { line: 'svc queue info mail --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const [name = ''] = operands;
    const { queue, config } = await withEngine(context, async (engine) => {
      const found = await findQueue(engine, name);
      const stats = await engine.call('engine::queue::topic_stats', { topic: name });
      return { queue: found, config: isRecord(stats) && isRecord(stats.config) ? stats.config : {} };
    });
    const document = { ...withIsoTimes(queue, { oldest_enqueued_at: 'ms' }), config };
    const oldest = timeText(numberIn(queue, 'oldest_enqueued_at'), output, terminal);
    const lines = [
      ...COUNTS.map((field): [string, string] => [
        words(field),
        isReported(queue, field) ? textIn(queue, field) : NOT_REPORTED,
      ]),
      ['oldest job', oldest || (isReported(queue, 'oldest_enqueued_at') ? 'none' : NOT_REPORTED)] as [string, string],
      ['paused', queue.paused === true ? 'yes' : 'no'] as [string, string],
      ...heldBack(queue),
      ...Object.entries(config).map(([field, value]): [string, string] => [words(field), String(value ?? 'none')]),
    ];
    const shown = lines.map(([field, value]): [string, string] => [stripUnsafe(field), stripUnsafe(value)]);
    output.printDocument(document, [stripUnsafe(name), ...formatPairs(shown)].join('\n'));
    return EXIT.done;
  },
});

const COUNTS = ['waiting', 'running', 'retrying', 'delayed', 'waiting_for_worker', 'dead'] as const;

function words(field: string): string {
  return field.replaceAll('_', ' ');
}
