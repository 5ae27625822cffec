// The effect of a write, as a coloured diff of the old and new value.

import type { StateUpdate } from '../../../sdk/data/state-client.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { type DiffLine, diffValues } from '../../text/line-diff.ts';
import type { Output } from '../../text/output.ts';

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

export function formatDifference({ paintOut }: Output, lines: readonly DiffLine[]): string {
  const painted = lines.map(({ kind, text }) => {
    const shown = stripUnsafe(text);
    if (kind === 'gone') return paintOut.red(`- ${shown}`);
    return kind === 'new' ? paintOut.green(`+ ${shown}`) : `  ${shown}`;
  });
  return painted.join('\n');
}
