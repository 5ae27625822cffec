import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CONFIRM_FLAGS, confirm } from '../../text/confirm.ts';

export const traceClear = defineCommand({
  name: 'trace clear',
  summary: 'Delete all traces that the engine keeps.',
  flags: { ...CONFIRM_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc trace clear --yes', shows: 'Deletes them.' },
    { line: 'svc trace clear --yes --json', shows: 'The same, with the answer of the engine.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    await confirm(context, 'Delete all traces, for all users?');
    const answer = await withEngine(context, (engine) => engine.call('engine::traces::clear', {}));
    context.output.printDocument(answer, 'All traces are deleted.');
    return EXIT.done;
  },
});
