// Candidates for the word at the cursor of an incomplete command line. Only `names` has side effects: it asks the
// engine.

import type { Catalogue } from './catalogue.ts';
import type { Command, OperandKind } from './command.ts';
import type { FlagTable } from './flags.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { TOPICS } from './help-topics.ts';

/** The names of that kind; `before` are the operands to the left of the cursor. */
export type Names = (kind: OperandKind, before: readonly string[]) => Promise<readonly string[]>;

/** `words` without `svc`; the last one is the one at the cursor, possibly empty. */
export async function complete(
  words: readonly string[],
  catalogue: Catalogue,
  names: Names,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const found = await candidates(words.slice(0, -1), current, catalogue, names);
  return [...new Set(found)].filter((word) => word.startsWith(current)).sort();
}

async function candidates(
  before: readonly string[],
  current: string,
  catalogue: Catalogue,
  names: Names,
): Promise<readonly string[]> {
  const [first] = before;
  if (first === undefined)
    return current.startsWith('-') ? ['--help', '--version', '--config'] : catalogue.firstWords();
  if (first === 'help') return [...catalogue.firstWords(), ...Object.keys(TOPICS)];
  const named = before.map((_, at) => catalogue.entryNamed(before.slice(0, at + 1).join(' ')));
  const length = named.findIndex((entry) => entry !== undefined) + 1;
  const command = await named[length - 1]?.load();
  if (command === undefined) return nextWords(before, catalogue);
  const table: FlagTable = { ...command.flags, ...GLOBAL_FLAGS };
  return await inside(command, table, before.slice(length), current, names);
}

/** The next words of the commands that begin with these words. */
function nextWords(before: readonly string[], catalogue: Catalogue): string[] {
  return catalogue.groupMembers(before.join(' ')).flatMap(({ name }) => name.split(' ')[before.length] ?? []);
}

async function inside(
  command: Command,
  table: FlagTable,
  before: readonly string[],
  current: string,
  names: Names,
): Promise<readonly string[]> {
  const last = before.at(-1) ?? '';
  const awaited = valueFlag(table, last);
  if (awaited === 'output') return command.formats;
  if (awaited !== undefined) return await valuesOf(awaited, table, names);
  if (current.startsWith('-')) return ['--help', ...Object.keys(table).map((name) => `--${name}`)];
  const operands = operandsOf(before, table);
  if (operands.length === 0 && command.operands?.choices !== undefined) return command.operands.choices;
  const kinds = command.operands?.kinds ?? [];
  const kind = kinds[Math.min(operands.length, kinds.length - 1)];
  if (kind === undefined || operands.length >= (command.operands?.max ?? 0)) return [];
  return await names(kind, operands);
}

async function valuesOf(name: string, table: FlagTable, names: Names): Promise<readonly string[]> {
  const flag = table[name];
  if (flag?.kind === 'choice') return flag.choices;
  const kind = KIND_OF_FLAG[name];
  return kind === undefined ? [] : await names(kind, []);
}

const KIND_OF_FLAG: Readonly<Record<string, OperandKind>> = {
  queue: 'queue',
  context: 'context',
  function: 'function',
};

/** The flag whose value is at the cursor. */
function valueFlag(table: FlagTable, word: string): string | undefined {
  if (!word.startsWith('-') || word.includes('=')) return undefined;
  const found = Object.entries(table).find(
    ([name, flag]) => word === `--${name}` || (flag.short !== undefined && word === `-${flag.short}`),
  );
  return found !== undefined && found[1].kind !== 'switch' ? found[0] : undefined;
}

function operandsOf(words: readonly string[], table: FlagTable): string[] {
  return words.filter((word, at) => !word.startsWith('-') && valueFlag(table, words[at - 1] ?? '') === undefined);
}
