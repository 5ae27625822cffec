// `svc state scopes`, `list` and `get`: the scopes, the entries of a scope, and the value of an entry.

import type { StateEntry } from '../../../sdk/data/state-client.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/shared-flags.ts';
import { isRecord } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { absentKey, readEntry } from './state-entries.ts';

export const stateScopes = defineCommand({
  name: 'state scopes',
  summary: 'List the scopes of the state.',
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc state scopes', shows: 'The scopes that hold entries.' },
    { line: 'svc state scopes --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const scopes: { readonly scope: string }[] = [];
    await withEngine(context, async ({ state }) => {
      for await (const scope of state.scopes()) scopes.push({ scope });
    });
    context.output.printRows({
      columns: [{ name: 'scope', cut: 'middle', text: ({ scope }) => scope }],
      rows: scopes,
      records: scopes,
    });
    if (scopes.length === 0)
      context.output.note('The state is empty. Write an entry with: svc state set <scope> <key> <json>');
    return EXIT.done;
  },
});

export const stateList = defineCommand({
  name: 'state list',
  summary: 'List the entries of a scope.',
  operands: { usage: '<scope>', min: 1, max: 1, help: 'The scope, from svc state scopes.', kinds: ['scope'] },
  flags: {
    prefix: { kind: 'text', placeholder: '<text>', help: 'Only keys that begin with the text.' },
    keys: { kind: 'switch', help: 'Only the keys, without their values.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc state list users', shows: 'Keys and values, in the order of the keys.' },
    { line: 'svc state list users --prefix a --keys', shows: 'The keys that begin with a.' },
    { line: 'svc state list users -o jsonl', shows: 'One entry per line, as {"key","value"}.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output } = context;
    const [scope = ''] = operands;
    const filter = flags.prefix === undefined ? {} : { prefix: flags.prefix };
    const entries: StateEntry<unknown>[] = [];
    await withEngine(
      context,
      async ({ state }) => {
        for await (const entry of state.list<unknown>(scope, filter)) entries.push(entry);
      },
      { printsValues: true },
    );
    const columns = flags.keys ? [KEY] : [KEY, VALUE];
    const records = flags.keys ? entries.map(({ key }) => ({ key })) : entries;
    output.printRows({ columns, rows: entries, records });
    if (entries.length === 0) output.note(`No entries in '${scope}'. List the scopes with: svc state scopes`);
    return EXIT.done;
  },
});

const KEY: Column<StateEntry<unknown>> = { name: 'key', cut: 'middle', text: ({ key }) => key };
const VALUE: Column<StateEntry<unknown>> = { name: 'value', cut: 'end', text: ({ value }) => JSON.stringify(value) };

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
    const read = flags['with-version'] ? readVersioned : readEntry;
    const value = await withEngine(context, (engine) => read(engine, scope, key), { printsValues: true });
    const shown = flags.path === undefined ? value : insideOf(value, flags.path, key);
    if (flags.raw && typeof shown === 'string') terminal.out.write(`${shown}\n`);
    else output.printJson(shown);
    return EXIT.done;
  },
});

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
