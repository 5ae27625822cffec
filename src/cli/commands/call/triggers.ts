// `svc triggers …` and `svc event emit`: the triggers, one of them fired, and an event that fires several.

import { withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { readPayload } from './payload.ts';

export const triggersList = defineCommand({
  name: 'triggers list',
  summary: 'List the triggers, with their state.',
  flags: {
    type: { kind: 'text', placeholder: '<type>', help: 'Only triggers of this type: http, cron, event, …' },
    function: { kind: 'text', placeholder: '<id>', help: 'Only triggers that call this function.' },
    status: {
      kind: 'choice',
      placeholder: '<status>',
      choices: ['active', 'inactive', 'error'],
      help: 'Only triggers in this state.',
    },
    ...listFlags('triggers'),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc triggers list --type cron -o wide', shows: 'The next and the last run of each cron trigger.' },
    {
      line: 'svc triggers list --function orders::create --json',
      shows: 'The triggers of that function, for a script.',
    },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags } = context;
    return await showList(context, { what: 'triggers' }, async (engine) => {
      const answer = await engine.call('engine::registered-triggers::list', {
        ...(flags.type === undefined ? {} : { trigger_type: flags.type }),
        ...(flags.function === undefined ? {} : { function_id: flags.function }),
      });
      const all = recordsIn(answer, 'registered_triggers');
      const rows = all.filter(
        (row) => flags.status === undefined || textIn(row, 'status').toLowerCase() === flags.status,
      );
      return { columns: COLUMNS, rows, none: emptyNote(flags) };
    });
  },
});

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'type', text: field('trigger_type') },
  { name: 'function_id', cut: 'middle', text: field('function_id') },
  { name: 'config', cut: 'end', text: field('config_summary') },
  { name: 'status', text: field('status') },
  { name: 'id', cut: 'middle', text: field('id') },
  { name: 'next_fire_time', wideOnly: true, text: field('next_fire_time') },
  { name: 'last_fired_at', wideOnly: true, text: field('last_fired_at') },
  { name: 'worker', wideOnly: true, text: field('worker_name') },
  { name: 'error', wideOnly: true, cut: 'end', text: field('error') },
];

function field(name: string): (record: JsonRecord) => string {
  return (record) => textIn(record, name);
}

function emptyNote({
  type,
  function: id,
  status,
}: Readonly<Record<'type' | 'function' | 'status', string | undefined>>) {
  if ((type ?? id ?? status) === undefined) return 'No worker has registered a trigger yet.';
  return 'No trigger matches. Omit --type, --function and --status to list all triggers.';
}

export const triggersFire = defineCommand({
  name: 'triggers fire',
  summary: 'Fire a trigger immediately.',
  operands: {
    usage: '<id> [payload | key=value ...]',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'The id, from svc triggers list; the payload as JSON, @file, - or pairs.',
    kinds: ['trigger'],
  },
  details: [
    'The condition is checked and the function called once, without waiting for its result. Without a payload the ' +
      'function gets what the trigger would send: from a cron trigger, the scheduled time.',
  ],
  flags: CONNECTION_FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc triggers fire 7c9e6679-7425-40de-944b-e07fc1f90ae7', shows: 'Runs a nightly job immediately.' },
    { line: `svc triggers fire 7c9e6679-7425-40de-944b-e07fc1f90ae7 '{"day":3}'`, shows: 'The same with a payload.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [id, ...parts] = context.operands;
    const given = parts.length === 0 ? {} : { payload: await readPayload(undefined, parts, context.terminal) };
    const answer = await withEngine(context, (engine) => engine.call('engine::triggers::fire', { id, ...given }));
    context.output.printJson(answer);
    if (isRecord(answer))
      context.output.note(`fired ${textIn(answer, 'trigger_type')}: ${textIn(answer, 'function_id')}`);
    return EXIT.done;
  },
});

export const eventEmit = defineCommand({
  name: 'event emit',
  summary: 'Publish an event and list the triggers it fires.',
  operands: {
    usage: '<name> [data | key=value ...]',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'The topic of the event, and its data as JSON, @file, - or pairs. Without data: null.',
  },
  details: ['Functions bound to the topic are called without waiting for them. An event without triggers is dropped.'],
  flags: CONNECTION_FLAGS,
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: `svc event emit user.created '{"id":7}'`, shows: 'Fires everything bound to user.created or user.*.' },
    { line: 'svc event emit nightly.done --json', shows: 'The triggers it fires, for a script.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const [topic, ...parts] = operands;
    const given = parts.length === 0 ? {} : { data: await readPayload(undefined, parts, terminal) };
    const answer = await withEngine(context, (engine) => engine.call('engine::events::emit', { topic, ...given }));
    const records = recordsIn(answer, 'triggers');
    output.printRows({ columns: FIRED_COLUMNS, rows: records, records });
    if (records.length === 0) output.note(`No trigger of this engine is bound to ${topic}.`);
    return EXIT.done;
  },
});

const FIRED_COLUMNS: readonly Column<JsonRecord>[] = ['trigger_type', 'function_id', 'id'].map((name) => ({
  name,
  text: (record: JsonRecord) => textIn(record, name),
}));
