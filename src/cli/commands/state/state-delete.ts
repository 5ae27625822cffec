import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { absentKey, findEntry } from './state-entries.ts';

const FLAGS = {
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
  flags: FLAGS,
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
