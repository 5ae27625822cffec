import { defineCommand } from '../command.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import type { FlagTable } from '../flags.ts';
import { absentKey, findEntry } from '../state-entries.ts';

const FLAGS = {
  'if-version': {
    kind: 'text',
    placeholder: '<version>',
    help: 'Delete only if the entry still has this version, as state get --with-version prints it; else exit code 7.',
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
    help: 'The entry. A key that is not there is exit code 3.',
    kinds: ['scope', 'key'],
  },
  details: ['Prints nothing; with --json, the value that was deleted.'],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state delete users ann', shows: 'Deletes the entry.' },
    { line: 'svc state delete users ann --json > ann.json', shows: 'Keeps what was there.' },
    {
      line: 'svc state delete users ann --if-version c9Jk2Vq8hN0bYtWx1a',
      shows: 'Deletes only what was read, not what somebody wrote since.',
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
  // A null that was there and nothing at all are answered alike.
  const entry = await findEntry(engine, scope, key);
  if (entry === undefined) throw await absentKey(engine, scope, key);
  const condition = version === undefined ? {} : { if_version: version };
  return (await engine.call('state::delete', { scope, key, ...condition })) ?? null;
}
