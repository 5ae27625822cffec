// `svc state set` and `delete`: one entry written or deleted, on a condition if one is given.

import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord } from '../../text/records.ts';
import { readJson, readText } from '../call/payload.ts';
import { printChange } from './state-diff.ts';
import { absentKey, findEntry } from './state-entries.ts';

const SET_FLAGS = {
  text: { kind: 'switch', help: 'The value is the text itself, not JSON.' },
  show: { kind: 'switch', help: 'Print what changed.' },
  'if-absent': { kind: 'switch', help: 'Write only if the entry does not exist; otherwise exit code 7.' },
  'if-version': {
    kind: 'text',
    placeholder: '<version>',
    help: 'Write only if the entry still has this version, from state get --with-version; otherwise exit code 7.',
  },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const stateSet = defineCommand({
  name: 'state set',
  summary: 'Write the value of an entry.',
  operands: {
    usage: '<scope> <key> <json>',
    min: 3,
    max: 3,
    help: 'The entry, and its new value as JSON; @file reads a file, - reads stdin.',
    kinds: ['scope', 'key'],
  },
  details: [
    'Prints nothing without --show or --json. The old value is overwritten.',
    'With --if-absent or --if-version, the check and the write are one atomic step.',
  ],
  flags: SET_FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: `svc state set users ann '{"name":"Ann"}'`, shows: 'Writes the value.' },
    { line: 'svc state set users ann @ann.json --show', shows: 'Writes what the file holds; prints the difference.' },
    { line: 'svc state set notes today --text -', shows: 'Writes stdin as one text.' },
    { line: `svc state set locks import '"me"' --if-absent`, shows: 'Writes the entry only if it does not exist.' },
    {
      line: 'svc state set users ann @ann.json --if-version c9Jk2Vq8hN0bYtWx1a',
      shows: 'Writes unless the entry was changed meanwhile.',
    },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.conflict],
  async run(context) {
    const [scope = '', key = ''] = context.operands;
    const { 'if-absent': isNew, 'if-version': version, show } = context.flags;
    if (isNew && version !== undefined) throw usageFailure('--if-absent and --if-version exclude each other.');
    const value = await readValue(context);
    const condition = { ...(isNew && { if_absent: true }), ...(version !== undefined && { if_version: version }) };
    const request = { scope, key, value, ...condition };
    const answer = await withEngine(context, ({ call }) => call('state::set', request));
    const { old_value = null, new_value = null } = isRecord(answer) ? answer : {};
    printChange(context.output, { old_value, new_value }, show);
    return EXIT.done;
  },
});

async function readValue({ flags, operands, terminal }: Context<typeof SET_FLAGS>): Promise<unknown> {
  const [, , source = ''] = operands;
  const names = {
    what: 'value',
    origin: 'the command line',
    hint: `In a shell, put it into single quotes: '{"name":"Ann"}'. Write plain text with --text.`,
  };
  return flags.text ? (await readText(source, names, terminal)).text : await readJson(source, names, terminal);
}

const DELETE_FLAGS = {
  'if-version': {
    kind: 'text',
    placeholder: '<version>',
    help: 'Delete only if the entry still has this version, from state get --with-version; otherwise exit code 7.',
  },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const stateDelete = defineCommand({
  name: 'state delete',
  summary: 'Delete an entry.',
  operands: {
    usage: '<scope> <key>',
    min: 2,
    max: 2,
    help: 'The entry. The exit code is 3 if it does not exist.',
    kinds: ['scope', 'key'],
  },
  details: ['Prints nothing, or with --json the deleted value.'],
  flags: DELETE_FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state delete users ann', shows: 'Deletes the entry.' },
    { line: 'svc state delete users ann --json > ann.json', shows: 'Saves the deleted value.' },
    {
      line: 'svc state delete users ann --if-version c9Jk2Vq8hN0bYtWx1a',
      shows: 'Deletes the entry unless it was changed meanwhile.',
    },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.conflict],
  async run(context) {
    const { flags, operands, output } = context;
    const [scope = '', key = ''] = operands;
    const version = flags['if-version'];
    const value = await withEngine(context, (engine) => deleteEntry(engine, scope, key, version));
    if (output.jsonAsked) output.printJson(value);
    return EXIT.done;
  },
});

async function deleteEntry(
  engine: EngineConnection,
  scope: string,
  key: string,
  version: string | undefined,
): Promise<unknown> {
  // The engine answers null for a stored null and for a missing entry.
  const entry = await findEntry(engine, scope, key);
  if (entry === undefined) throw await absentKey(engine, scope, key);
  const condition = version === undefined ? {} : { if_version: version };
  return (await engine.call('state::delete', { scope, key, ...condition })) ?? null;
}
