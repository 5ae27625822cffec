import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord } from '../../text/records.ts';
import { workThrough } from './bulk-work.ts';
import { chooseLetter } from './dead-letters.ts';
import { printOutcome } from './queue-moves.ts';

export const queueDlqDiscard = defineCommand({
  name: 'queue dlq discard',
  summary: 'Delete single dead letters.',
  operands: { usage: '<receipt ...>', min: 1, max: Number.POSITIVE_INFINITY, help: 'Receipts of dead letters.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue dlq discard 0192f0c1-7a52-7000-8000-000100011234', shows: 'Deletes one dead letter.' },
    { line: 'svc queue dlq discard 0192f0c1-7a52-7000-8000-000100011234 --json', shows: 'For a script.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    return await withEngine(context, async (engine) => {
      const letters = await Promise.all(context.operands.map((receipt) => chooseLetter(engine, receipt)));
      const outcome = await workThrough(
        {
          items: letters,
          ratePerSecond: undefined,
          word: 'discarded',
          work: async ({ queue, id }) => {
            const answer = await engine.call('svc::queue::discard_message', { queue, message_id: id });
            return isRecord(answer) && answer.discarded === 1;
          },
        },
        context,
      );
      return printOutcome(context, 'discarded', outcome);
    });
  },
});
