import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';

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
