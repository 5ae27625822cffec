import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, type ExitCode, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord } from '../../text/records.ts';
import { readJson } from '../call/payload.ts';
import { printOutcome, readRate, workThrough } from './bulk-work.ts';
import { type ChosenLetter, chooseLetters, SELECTION_FLAGS } from './dead-letters.ts';

const FLAGS = {
  ...SELECTION_FLAGS,
  payload: {
    kind: 'text',
    placeholder: '<json>',
    help: 'For one letter: retry it with this payload; @file reads a file, - reads stdin.',
  },
  'dry-run': { kind: 'switch', help: 'Only count the letters that would be retried.' },
  rate: { kind: 'text', placeholder: '<n>/s', help: 'Largest number of letters per second, such as 50/s.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queueDlqRedrive = defineCommand({
  name: 'queue dlq redrive',
  summary: 'Retry dead letters.',
  operands: {
    usage: '[receipt ...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'Receipts; or select with --all, --error or --older-than.',
  },
  details: [
    'Each job goes to the end of its queue, oldest first, with its full number of attempts. A job that fails again ' +
      'meanwhile is not retried twice. Letters that no longer exist count as skipped.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    {
      line: `svc queue dlq redrive --error 'timed out' --queue mail`,
      shows: 'Retries jobs that failed with this error.',
    },
    { line: 'svc queue dlq redrive --all --rate 50/s', shows: 'Retries all, 50 per second, with a progress line.' },
    {
      line: 'svc queue dlq redrive 0192f0c1-7a52-7000-8000-000100011234 --payload @a.json',
      shows: 'Retries one job with another payload.',
    },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, terminal } = context;
    const ratePerSecond = readRate(flags.rate);
    if (flags.payload !== undefined && operands.length !== 1) {
      throw usageFailure('--payload is for one letter: give exactly one receipt.');
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
  origin: '--payload',
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
