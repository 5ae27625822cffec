// `svc state diff`, and the coloured difference that the commands that write print, too.

import type { StateUpdate } from '../../../sdk/data/state-client.ts';
import { withEngine } from '../../engine/connection.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { type DiffLine, diffValues } from '../../text/line-diff.ts';
import type { Output } from '../../text/output.ts';
import { readEntry } from './state-entries.ts';

export const stateDiff = defineCommand({
  name: 'state diff',
  summary: 'Compare the values of two entries.',
  operands: { usage: '<scope> <keyA> <keyB>', min: 3, max: 3, help: 'Two keys of one scope.', kinds: ['scope', 'key'] },
  details: ['The exit code is 1 when they differ, as with diff. With --json, both values are printed.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state diff users ann bob', shows: 'Lines of ann with -, of bob with +.' },
    { line: 'svc state diff settings live draft && echo same', shows: 'Prints same when nothing differs.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output } = context;
    const [scope = '', ...keys] = operands;
    const [one, other] = await withEngine(context, (engine) =>
      Promise.all(keys.map((key) => readEntry(engine, scope, key))),
    );
    const lines = diffValues(one, other);
    const isSame = lines.every(({ kind }) => kind === 'same');
    if (output.jsonAsked) output.printJson({ same: isSame, values: [one, other] });
    else if (!isSame) output.printDocument(undefined, formatDifference(output, lines));
    return isSame ? EXIT.done : EXIT.failed;
  },
});

/** Prints JSON when it was requested; otherwise the diff, and only with --show. */
export function printChange(
  output: Output,
  change: Pick<StateUpdate<unknown>, 'old_value' | 'new_value'>,
  isShown: boolean,
): void {
  if (output.jsonAsked) output.printJson(change);
  else if (isShown) {
    const { old_value: before, new_value: after } = change;
    output.printDocument(change, formatDifference(output, diffValues(before ?? undefined, after)));
  }
}

function formatDifference({ paintOut }: Output, lines: readonly DiffLine[]): string {
  const painted = lines.map(({ kind, text }) => {
    const shown = stripUnsafe(text);
    if (kind === 'gone') return paintOut.red(`- ${shown}`);
    return kind === 'new' ? paintOut.green(`+ ${shown}`) : `  ${shown}`;
  });
  return painted.join('\n');
}
