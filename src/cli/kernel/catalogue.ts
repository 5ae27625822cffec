// The commands that a run of `svc` knows, and which of them the words on the command line mean. None is loaded for
// that. The catalogue is passed in by the caller: no file that a command imports may import the list of all commands.

import { nearestWords } from '../../core/config-fields/nearest.ts';
import type { Command } from './command.ts';
import { type CliFailure, usageFailure } from './failures.ts';
import { CONNECTION_FLAGS, type Flag, GLOBAL_FLAGS } from './flags.ts';

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

  /** The command of this name. The noun of several words may be singular or plural; a single word is no noun. */
  entryNamed(name: string): CatalogueEntry | undefined {
    return this.#exactly(name) ?? (name.includes(' ') ? this.#exactly(withOtherNumber(name)) : undefined);
  }

  #exactly(name: string): CatalogueEntry | undefined {
    return this.entries.find((entry) => entry.name === name);
  }

  /** The commands that begin with these words, aliases included. */
  groupMembers(words: string): readonly CatalogueEntry[] {
    const members = this.#below(words);
    return members.length > 0 ? members : this.#below(withOtherNumber(words));
  }

  #below(words: string): readonly CatalogueEntry[] {
    return this.entries.filter((entry) => entry.name.startsWith(`${words} `));
  }

  /** Each first word of a command once, and `help`. */
  firstWords(): readonly string[] {
    return [...new Set([...this.entries.map((entry) => entry.name.split(' ')[0] ?? ''), 'help'])];
  }
}

/** `queues list` for `queue list`, and the reverse. */
function withOtherNumber(name: string): string {
  const [noun = '', ...rest] = name.split(' ');
  const other = noun.endsWith('s') ? noun.slice(0, -1) : `${noun}s`;
  return [other, ...rest].join(' ');
}

export function unknownCommand(typed: string, known: readonly string[]): CliFailure {
  const [suggestion] = nearestWords(typed, known);
  return usageFailure(
    `Unknown command '${typed}'.`,
    suggestion === undefined ? 'List the commands with: svc --help' : `Did you mean: svc ${suggestion}?`,
  );
}

export type Route =
  | { readonly kind: 'version' }
  /** `svc --help`, `svc help`, `svc help <topic or command>`. */
  | { readonly kind: 'help'; readonly words: readonly string[] }
  /** `svc functions`: the first words of several commands, alone. */
  | { readonly kind: 'group'; readonly group: string }
  | {
      readonly kind: 'command';
      readonly entry: CatalogueEntry;
      /** The rest, for the command's own parser. */
      readonly args: readonly string[];
      /** False for `svc --config …`, which starts the engine without the word `start`. */
      readonly named: boolean;
    };

export function routeArguments(args: readonly string[], catalogue: Catalogue): Route {
  const [first, ...positions] = commandWords(args);
  if (first === undefined) return routeWithoutCommand(args, catalogue);
  const word = args[first] ?? '';
  if (word === 'help') return { kind: 'help', words: args.slice(first + 1).filter((arg) => !arg.startsWith('-')) };

  let name = word;
  for (const [depth, position] of [...positions, undefined].entries()) {
    const entry = catalogue.entryNamed(name);
    const used = [first, ...positions.slice(0, depth)];
    if (entry !== undefined) return { kind: 'command', entry, args: without(args, used), named: true };
    const members = catalogue.groupMembers(name);
    if (members.length === 0) throw unknownCommand(name, siblingNames(catalogue, name));
    if (position === undefined) break;
    name = `${name} ${args[position] ?? ''}`;
  }
  return { kind: 'group', group: name };
}

/** Suggestions for the last of these words. */
function siblingNames(catalogue: Catalogue, name: string): readonly string[] {
  const group = name.split(' ').slice(0, -1).join(' ');
  return group === '' ? catalogue.firstWords() : catalogue.groupMembers(group).map((member) => member.name);
}

/** The command of a line without a command word: `svc --config svc-config.yaml`. */
const DEFAULT_COMMAND = 'start';

/** A line that begins with a flag: help, version, or the start of the engine. */
function routeWithoutCommand(args: readonly string[], catalogue: Catalogue): Route {
  if (args.includes('--version') || args.includes('-V')) return { kind: 'version' };
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help', words: [] };
  const entry = catalogue.entryNamed(DEFAULT_COMMAND);
  if (entry === undefined) throw new Error('the default command is not in the catalogue');
  return { kind: 'command', entry, args, named: false };
}

/**
 * The positions of the command words: up to three, before anything except the flags that may come first
 * (`svc --url ws://… functions list`).
 */
function commandWords(args: readonly string[]): number[] {
  const positions: number[] = [];
  for (let index = 0; index < args.length && positions.length < 3; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) {
      positions.push(index);
      continue;
    }
    const long = arg.startsWith('--');
    const name = long ? (arg.slice(2).split('=')[0] ?? '') : arg.slice(1, 2);
    const kind = LEADING_FLAGS.get(name);
    if (kind === undefined) break;
    const valueAttached = long ? arg.includes('=') : arg.length > 2;
    if (kind === 'value' && !valueAttached) index += 1;
  }
  return positions;
}

/** Long and short names of the flags that may come before the command. */
const LEADING_FLAGS: ReadonlyMap<string, 'switch' | 'value'> = new Map(
  Object.entries<Flag>({ ...GLOBAL_FLAGS, ...CONNECTION_FLAGS })
    .flatMap(([name, flag]) => {
      const kind = flag.kind === 'switch' ? 'switch' : 'value';
      return [name, ...(flag.short === undefined ? [] : [flag.short])].map((word) => [word, kind] as const);
    })
    .concat([
      ['help', 'switch'],
      ['h', 'switch'],
    ]),
);

function without(args: readonly string[], positions: readonly number[]): string[] {
  return args.filter((_, index) => !positions.includes(index));
}
