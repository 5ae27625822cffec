import { defineCommand } from '../command.ts';
import { CONFIRM_FLAGS, confirm } from '../confirm.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';

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
    await confirm(context, 'Delete all traces, for everybody?');
    const answer = await withEngine(context, (engine) => engine.call('engine::traces::clear', {}));
    context.output.printDocument(answer, 'All traces are deleted.');
    return EXIT.done;
  },
});
