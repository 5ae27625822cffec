// Which module or adapter a word in the file means. Every one can be written by name, by short form and by class.

import { quote } from '../core/fields-check.ts';
import { nearestWords } from '../core/nearest.ts';

/** What modules and adapters have in common here. */
interface Named {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly classes: readonly string[];
}

export function findByName<N extends Named>(word: string, named: readonly N[]): N | undefined {
  return named.find((candidate) => spellingsOf(candidate).includes(word));
}

/** "Unknown module 'svc-strem'. Did you mean 'svc-stream'? Known: …" A hidden word came out of a secret variable. */
export function describeUnknown(what: string, word: string, isHidden: boolean, named: readonly Named[]): string {
  const [meant] = nearestWords(word, named.flatMap(spellingsOf));
  const typed = isHidden ? '' : ` ${quote(word)}`;
  const guess = isHidden || meant === undefined ? '' : ` Did you mean '${meant}'?`;
  const known = named.map(({ name }) => name).join(', ');
  return `Unknown ${what}${typed}.${guess} Known: ${known}.`;
}

function spellingsOf({ name, aliases, classes }: Named): readonly string[] {
  return [name, ...aliases, ...classes];
}
