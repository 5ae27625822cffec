import type { StateEntry } from '../../sdk/state-client.ts';
import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import type { Column } from '../table.ts';

export const stateList = defineCommand({
  name: 'state list',
  summary: 'List the entries of a scope.',
  operands: { usage: '<scope>', min: 1, max: 1, help: 'The scope, as svc state scopes lists it.', kinds: ['scope'] },
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
    if (entries.length === 0) output.note(`No entries in '${scope}'. The scopes that have some: svc state scopes`);
    return EXIT.done;
  },
});

const KEY: Column<StateEntry<unknown>> = { name: 'key', cut: 'middle', text: ({ key }) => key };
const VALUE: Column<StateEntry<unknown>> = { name: 'value', cut: 'end', text: ({ value }) => JSON.stringify(value) };
