import { defineCommand } from '../command.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { absentKey, findEntry } from '../state-entries.ts';

export const stateDelete = defineCommand({
  name: 'state delete',
  summary: 'Delete an entry.',
  operands: { usage: '<scope> <key>', min: 2, max: 2, help: 'The entry. A key that is not there is exit code 3.' },
  details: ['Prints nothing; with --json, the value that was deleted.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state delete users ann', shows: 'Deletes the entry.' },
    { line: 'svc state delete users ann --json > ann.json', shows: 'Keeps what was there.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output } = context;
    const [scope = '', key = ''] = operands;
    const value = await withEngine(context, (engine) => deleteEntry(engine, scope, key));
    if (output.jsonAsked) output.printJson(value);
    return EXIT.done;
  },
});

async function deleteEntry(engine: EngineConnection, scope: string, key: string): Promise<unknown> {
  // A null that was there and nothing at all are answered alike.
  const entry = await findEntry(engine, scope, key);
  if (entry === undefined) throw await absentKey(engine, scope, key);
  return await engine.state.delete<unknown>(scope, key);
}
