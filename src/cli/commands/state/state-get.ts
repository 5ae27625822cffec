import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure } from '../../kernel/failures.ts';
import { isRecord } from '../../text/records.ts';
import { absentKey, findEntry } from './state-entries.ts';

export const stateGet = defineCommand({
  name: 'state get',
  summary: 'Print the value of an entry.',
  operands: {
    usage: '<scope> <key>',
    min: 2,
    max: 2,
    help: 'The entry. The exit code is 3 if it does not exist.',
    kinds: ['scope', 'key'],
  },
  flags: {
    path: { kind: 'text', placeholder: '<a.b>', help: 'Only the value at this path of fields and positions.' },
    raw: { kind: 'switch', help: 'Print a text without quotes and escapes.' },
    'with-version': { kind: 'switch', help: 'Print {"value", "version"}, for state set --if-version.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc state get users ann', shows: 'The value as JSON; null when null is stored.' },
    { line: 'svc state get users ann --path address.city --raw', shows: 'One text inside it, for a script.' },
    { line: 'svc state get users ann --with-version', shows: 'The value, and the version for a conditional write.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const [scope = '', key = ''] = operands;
    const read = flags['with-version'] ? readVersioned : readValue;
    const value = await withEngine(context, (engine) => read(engine, scope, key), { printsValues: true });
    const shown = flags.path === undefined ? value : insideOf(value, flags.path, key);
    if (flags.raw && typeof shown === 'string') terminal.out.write(`${shown}\n`);
    else output.printJson(shown);
    return EXIT.done;
  },
});

async function readValue(engine: EngineConnection, scope: string, key: string): Promise<unknown> {
  const entry = await findEntry(engine, scope, key);
  if (entry === undefined) throw await absentKey(engine, scope, key);
  return entry.value;
}

/** Value and version, read together. */
async function readVersioned(engine: EngineConnection, scope: string, key: string): Promise<unknown> {
  const answer = await engine.call('state::get', { scope, key, include_version: true });
  if (isRecord(answer) && typeof answer.version === 'string') return answer;
  throw await absentKey(engine, scope, key);
}

function insideOf(value: unknown, path: string, key: string): unknown {
  let found = value;
  for (const segment of path.split('.')) {
    const isThere = (isRecord(found) || Array.isArray(found)) && Object.hasOwn(found, segment);
    if (!isThere) {
      const message = `The value of '${key}' has no '${path}': '${segment}' does not exist.`;
      throw new CliFailure({ code: 'NOT_FOUND', message, exitCode: EXIT.notFound, details: { key, path } });
    }
    found = Reflect.get(Object(found), segment);
  }
  return found;
}
