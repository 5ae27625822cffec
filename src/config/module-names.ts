// Which module or adapter a word in the file means. Each can be written by name, by short form and by class.

import { quote } from '../core/config-fields/fields-check.ts';
import { nearestWords } from '../core/config-fields/nearest.ts';

/** The common shape of modules and adapters. */
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
