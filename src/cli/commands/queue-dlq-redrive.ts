import { readRate, workThrough } from '../bulk-work.ts';
import { readJson } from '../call-payload.ts';
import { type Context, defineCommand } from '../command.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { type ChosenLetter, chooseLetters, SELECTION_FLAGS } from '../dead-letters.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { usageFailure } from '../failures.ts';
import type { FlagTable } from '../flags.ts';
import { printOutcome } from '../queue-moves.ts';
import { isRecord } from '../records.ts';

const FLAGS = {
  ...SELECTION_FLAGS,
  payload: {
    kind: 'text',
    placeholder: '<json>',
    help: 'Of one letter: try it with this payload instead; @file reads a file, - reads stdin.',
  },
  'dry-run': { kind: 'switch', help: 'Only count what would be redriven.' },
  rate: { kind: 'text', placeholder: '<n>/s', help: 'At most so many a second: 50/s.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queueDlqRedrive = defineCommand({
  name: 'queue dlq redrive',
  summary: 'Try dead letters again.',
  operands: {
    usage: '[receipt ...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'Their receipts; or choose with --all, --error or --older-than.',
  },
  details: [
    'Each goes to the end of its queue with all its attempts back, oldest first. What fails again meanwhile is not ' +
      'redriven twice. Letters that are gone by then count as skipped.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: `svc queue dlq redrive --error 'timed out' --queue mail`, shows: 'What failed for one reason.' },
    { line: 'svc queue dlq redrive --all --rate 50/s', shows: 'Everything, gently, with a line that shows how far.' },
    {
      line: 'svc queue dlq redrive 0192f0c1-7a52-7000-8000-000100011234 --payload @a.json',
      shows: 'One job with another payload.',
    },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, terminal } = context;
    const ratePerSecond = readRate(flags.rate);
    if (flags.payload !== undefined && operands.length !== 1) {
      throw usageFailure('--payload is for one letter: name its receipt, and no other.');
    }
    const edited = flags.payload === undefined ? {} : { payload: await readJson(flags.payload, PAYLOAD, terminal) };
    return await withEngine(context, async (engine) => {
      const letters = await chooseLetters(engine, operands, flags, terminal.now());
      if (flags['dry-run']) return printDryRun(context, letters);
      const outcome = await workThrough(
        { items: letters, ratePerSecond, word: 'redriven', work: (letter) => redrive(engine, letter, edited) },
        context,
      );
      return printOutcome(context, 'redriven', outcome);
    });
  },
});

const PAYLOAD = {
  what: 'payload',
  place: '--payload',
  hint: `In a shell, put it into single quotes: --payload '{"sku":"a1"}'`,
};

async function redrive(engine: EngineConnection, { queue, id }: ChosenLetter, edited: object): Promise<boolean> {
  const answer = await engine.call('svc::queue::redrive_message', { queue, message_id: id, ...edited });
  return isRecord(answer) && answer.redriven === 1;
}

function printDryRun({ output }: Context<typeof FLAGS>, letters: readonly ChosenLetter[]): ExitCode {
  if (output.jsonAsked) output.printJson({ dry_run: true, would_redrive: letters.length });
  else output.note(`Would redrive ${letters.length} dead letters.`);
  return EXIT.done;
}
