import { readContexts, unknownContext, writeContexts } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';

export const contextRemove = defineCommand({
  name: 'context remove',
  summary: 'Remove a saved engine.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'A name from svc context list.', kinds: ['context'] },
  flags: {},
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context remove staging', shows: 'Removes its addresses; the token file stays.' },
    { line: 'svc context remove staging --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound],
  async run({ operands, output, terminal }) {
    const name = operands[0] ?? '';
    const contexts = readContexts(terminal.env);
    const byName = new Map(contexts.byName);
    if (!byName.delete(name)) throw unknownContext(name, contexts);
    const current = contexts.current === name ? undefined : contexts.current;
    await writeContexts(terminal.env, { current, byName });
    output.printDocument({ removed: name }, `Removed ${name}.`);
    return EXIT.done;
  },
});
