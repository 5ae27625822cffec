import { defineCommand } from '../command.ts';
import { readContexts } from '../contexts.ts';
import { EXIT } from '../exit-codes.ts';
import { textIn } from '../records.ts';

export const contextList = defineCommand({
  name: 'context list',
  summary: 'List the engines that have a name.',
  flags: {},
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc context list', shows: 'Names and addresses; the star marks the one in use.' },
    { line: 'svc context list --json', shows: 'The same for a script.' },
  ],
  async run({ output, terminal }) {
    const { current, byName } = readContexts(terminal.env);
    const records = [...byName].map(([name, context]) => ({ name, ...context, current: name === current }));
    output.printRows({
      columns: [
        { name: 'current', text: (row) => (row.current ? '*' : '') },
        { name: 'name', text: ({ name }) => name },
        { name: 'url', text: (row) => textIn(row, 'url') },
        { name: 'http_url', text: (row) => textIn(row, 'http_url') },
        { name: 'token_file', wideOnly: true, text: (row) => textIn(row, 'token_file') },
      ],
      rows: records,
      records,
    });
    if (records.length === 0) output.note('No context. Make one with: svc context add <name> --url <address>');
    return EXIT.done;
  },
});
