// Confirmation by the user (CLI-6). Asked on a terminal only; elsewhere the error names the flag to use.

import type { Context } from '../kernel/command.ts';
import { CliFailure, EXIT } from '../kernel/failures.ts';
import type { CONFIRM_FLAGS } from '../kernel/flags.ts';

type ConfirmContext = Pick<Context<typeof CONFIRM_FLAGS>, 'flags' | 'output' | 'terminal'>;

/** Returns when the answer is yes. `expected`: text that must be typed instead of `y`. */
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
    message: `${question} This needs a confirmation, and there is no terminal to ask on. Nothing was changed.`,
    exitCode: EXIT.usage,
    hint: 'Confirm with --yes.',
  });
}
