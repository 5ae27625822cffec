import { defineCommand } from '../../kernel/command.ts';
import { SCRIPTS, SHELLS } from '../../kernel/completion-scripts.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { usageFailure } from '../../kernel/failures.ts';

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print a shell script that completes svc commands.',
  operands: { usage: '<bash|zsh|fish|powershell>', min: 1, max: 1, help: 'The shell.', choices: SHELLS },
  details: [
    'Completes commands, flags and their values, and names of functions, queues, scopes, keys, streams, triggers and ' +
      'workers from the running engine. Put the line of the first example into ~/.bashrc.',
  ],
  flags: {},
  formats: ['table'],
  examples: [
    { line: 'svc completion bash', shows: 'For ~/.bashrc: source <(svc completion bash)' },
    { line: 'svc completion fish', shows: 'For fish: svc completion fish | source' },
  ],
  async run({ operands, output, terminal }) {
    const shell = SHELLS.find((known) => known === operands[0]);
    if (shell === undefined) throw usageFailure(`Unknown shell '${operands[0]}'. Known: ${SHELLS.join(', ')}.`);
    terminal.out.write(SCRIPTS[shell]);
    if (terminal.startedAs !== 'svc') output.note(NOT_ON_PATH);
    return EXIT.done;
  },
});

const NOT_ON_PATH = 'Completes svc, which is not on your PATH here: export PATH="$(npm root)/.bin:$PATH"';
