// What a write did, as a coloured difference of old and new value.

import type { StateUpdate } from '../sdk/state-client.ts';
import { stripUnsafe } from './display-text.ts';
import { type DiffLine, diffValues } from './line-diff.ts';
import type { Output } from './output.ts';

/** As JSON when that was asked for; else only if the difference was. */
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
