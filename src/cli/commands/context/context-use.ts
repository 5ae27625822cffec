import { readContexts, unknownContext, writeContexts } from '../../engine/contexts.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';

export const contextUse = defineCommand({
  name: 'context use',
  summary: 'Choose the engine that commands connect to.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'A name from svc context list.', kinds: ['context'] },
  details: [
    'Flags and environment variables take precedence. For one command only: svc functions list --context prod.',
  ],
  flags: {},
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc context use staging', shows: 'All further commands connect to that engine.' },
    { line: 'svc context use prod --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound],
  async run({ operands, output, terminal }) {
    const name = operands[0] ?? '';
    const contexts = readContexts(terminal.env);
    if (!contexts.byName.has(name)) throw unknownContext(name, contexts);
    await writeContexts(terminal.env, { ...contexts, current: name });
    output.printDocument({ current: name }, `Using ${name}.`);
    return EXIT.done;
  },
});
