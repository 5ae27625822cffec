// The commands that a run of `svc` knows. The catalogue is passed in by the caller: no file that a command imports may
// import the list of all commands.

import { nearestWords } from '../../core/config-fields/nearest.ts';
import type { Command } from './command.ts';
import { type CliFailure, usageFailure } from './failures.ts';

export interface CatalogueEntry {
  /** The words that are typed. */
  readonly name: string;
  /** The line in `svc --help`; equal to the summary in the command's own file. */
  readonly summary: string;
  /** Another name of the same command; left out of the overview. */
  readonly aliasOf?: string;
  load(): Promise<Command>;
}

/** The entries by section, sections and entries in the order of `svc --help`. */
export type Sections = Readonly<Record<string, readonly CatalogueEntry[]>>;

export class Catalogue {
  readonly sections: Sections;
  readonly entries: readonly CatalogueEntry[];

  constructor(sections: Sections) {
    this.sections = sections;
    this.entries = Object.values(sections).flat();
  }

  entryNamed(name: string): CatalogueEntry | undefined {
    return this.entries.find((entry) => entry.name === name);
  }

  /** The commands that begin with these words, aliases included. */
  groupMembers(words: string): readonly CatalogueEntry[] {
    return this.entries.filter((entry) => entry.name.startsWith(`${words} `));
  }

  /** Each first word of a command once, and `help`. */
  firstWords(): readonly string[] {
    return [...new Set([...this.entries.map((entry) => entry.name.split(' ')[0] ?? ''), 'help'])];
  }
}

export function unknownCommand(typed: string, known: readonly string[]): CliFailure {
  const [suggestion] = nearestWords(typed, known);
  return usageFailure(
    `Unknown command '${typed}'.`,
    suggestion === undefined ? 'List the commands with: svc --help' : `Did you mean: svc ${suggestion}?`,
  );
}
