// Whether the user means it (CLI-6). Asked on a terminal only; elsewhere the flag that would have answered is named.

import type { Context } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure } from './failures.ts';
import type { FlagTable } from './flags.ts';

export const CONFIRM_FLAGS = {
  yes: { kind: 'switch', short: 'y', help: 'Do it without asking.' },
  'no-input': { kind: 'switch', help: 'Never ask: fail where an answer would be needed.' },
} as const satisfies FlagTable;

type ConfirmContext = Pick<Context<typeof CONFIRM_FLAGS>, 'flags' | 'output' | 'terminal'>;

/** Returns when the answer is yes. `expected`: what has to be typed, where a `y` would be too easily said. */
export async function confirm(context: ConfirmContext, question: string, expected?: string): Promise<void> {
  const { flags, terminal } = context;
  if (flags.yes) return;
  if (flags['no-input'] || !terminal.mayAsk) throw unanswered(question);
  const wanted = expected ?? 'y';
  const answer = (await terminal.ask(`${question} [${expected === undefined ? 'y/N' : `type ${expected}`}] `)).trim();
  if (answer.toLowerCase() === wanted.toLowerCase() || (expected === undefined && answer.toLowerCase() === 'yes'))
    return;
  throw new CliFailure({ code: 'NOT_CONFIRMED', message: 'Nothing was changed.', exitCode: EXIT.failed });
}

function unanswered(question: string): CliFailure {
  return new CliFailure({
    code: 'USAGE',
    message: `${question} Nobody is there to answer, and nothing was changed.`,
    exitCode: EXIT.usage,
    hint: 'Give --yes to do it.',
  });
}
