import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { CONFIRM_FLAGS, confirm } from '../../text/confirm.ts';
import { numberIn } from '../../text/records.ts';
import { type BulkOutcome, workThrough } from './bulk-work.ts';
import { type ChosenLetter, chooseLetters, SELECTION_FLAGS } from './dead-letters.ts';
import { printOutcome } from './queue-moves.ts';

const { queue: _queue, ...FILTERS } = SELECTION_FLAGS;

const FLAGS = {
  ...FILTERS,
  ...CONFIRM_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queueDlqPurge = defineCommand({
  name: 'queue dlq purge',
  summary: 'Delete the dead letters of a queue.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic.' },
  details: ['Deleted letters cannot be restored. To confirm, type the number of dead letters.'],
  flags: FLAGS,
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
  context: Context<typeof FLAGS>,
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
