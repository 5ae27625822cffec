// `svc queue dlq discard` and `purge`: deletes single dead letters, or those of a queue.

import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONFIRM_FLAGS, CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { confirm } from '../../text/confirm.ts';
import { isRecord, numberIn } from '../../text/records.ts';
import { type BulkOutcome, printOutcome, workThrough } from './bulk-work.ts';
import { type ChosenLetter, chooseLetter, chooseLetters, SELECTION_FLAGS } from './dead-letters.ts';

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

const { queue: _queue, ...FILTERS } = SELECTION_FLAGS;

const PURGE_FLAGS = {
  ...FILTERS,
  ...CONFIRM_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queueDlqPurge = defineCommand({
  name: 'queue dlq purge',
  summary: 'Delete the dead letters of a queue.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic.' },
  details: ['Deleted letters cannot be restored. To confirm, type the number of dead letters.'],
  flags: PURGE_FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue dlq purge mail --all --yes', shows: 'All of one queue.' },
    { line: 'svc queue dlq purge mail --older-than 168h --yes', shows: 'Those older than a week.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, terminal } = context;
    const [queue = ''] = operands;
    return await withEngine(context, async (engine) => {
      const letters = await chooseLetters(engine, [], { ...flags, queue }, terminal.now());
      if (letters.length > 0) {
        const question = `This permanently deletes ${letters.length} dead letters of '${queue}'.`;
        await confirm(context, question, String(letters.length));
      }
      return printOutcome(context, 'discarded', await discardAll(context, engine, queue, letters));
    });
  },
});

/** Many letters in one call, because no rate limit applies. */
async function discardAll(
  context: Context<typeof PURGE_FLAGS>,
  engine: EngineConnection,
  queue: string,
  letters: readonly ChosenLetter[],
): Promise<BulkOutcome> {
  const ids = letters.map(({ id }) => id);
  const chunks = Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, at) =>
    ids.slice(at * CHUNK, (at + 1) * CHUNK),
  );
  let discarded = 0;
  const outcome = await workThrough(
    {
      items: chunks,
      ratePerSecond: undefined,
      word: `times ${CHUNK} discarded`,
      work: async (chunk) => {
        const answer = await engine.call('svc::queue::purge', { queue, ids: chunk });
        discarded += typeof answer === 'object' && answer !== null ? (numberIn({ ...answer }, 'discarded') ?? 0) : 0;
        return true;
      },
    },
    context,
  );
  const failed = outcome.failed * CHUNK;
  return { ...outcome, done: discarded, failed, skipped: Math.max(0, ids.length - discarded - failed) };
}

const CHUNK = 500;
