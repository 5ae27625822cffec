import type { StateEntry } from '../../../sdk/data/state-client.ts';
import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import type { Column } from '../../text/table.ts';

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
