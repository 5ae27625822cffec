import { readContexts } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { textIn } from '../../text/records.ts';

export const contextList = defineCommand({
  name: 'context list',
  summary: 'List the saved engines.',
  flags: {},
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc context list', shows: 'Names and addresses; the star marks the current one.' },
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
    if (records.length === 0) output.note('No context. Add one with: svc context add <name> --url <address>');
    return EXIT.done;
  },
});
