import { type BulkOutcome, workThrough } from '../bulk-work.ts';
import { type Context, defineCommand } from '../command.ts';
import { CONFIRM_FLAGS, confirm } from '../confirm.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { type ChosenLetter, chooseLetters, SELECTION_FLAGS } from '../dead-letters.ts';
import { EXIT } from '../exit-codes.ts';
import type { FlagTable } from '../flags.ts';
import { printOutcome } from '../queue-moves.ts';
import { numberIn } from '../records.ts';

const { queue: _queue, ...FILTERS } = SELECTION_FLAGS;

const FLAGS = {
  ...FILTERS,
  ...CONFIRM_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queueDlqPurge = defineCommand({
  name: 'queue dlq purge',
  summary: 'Throw the dead letters of a queue away.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic.' },
  details: ['What is thrown away cannot be had back: asks for the number of dead letters to be typed.'],
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
        const question = `This throws ${letters.length} dead letters of '${queue}' away, for good.`;
        await confirm(context, question, String(letters.length));
      }
      return printOutcome(context, 'discarded', await discardAll(context, engine, queue, letters));
    });
  },
});

/** Many in a call: nobody asks how fast they go. */
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
