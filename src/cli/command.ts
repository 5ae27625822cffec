// What a file in `commands/` exports: a description that help, parser and catalogue read, and the verb.

import type { ExitCode } from './exit-codes.ts';
import type { FlagTable, FlagValues } from './flags.ts';
import type { Format, Output } from './output.ts';
import type { Terminal } from './terminal.ts';

export interface Example {
  /** Runs as pasted. */
  readonly line: string;
  readonly shows: string;
}

/** What stands beside the flags: `<id> [key=value …]`. */
export interface Operands {
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  readonly help: string;
  /** What stands at each place, for the shell's completion; the last one goes on. */
  readonly kinds?: readonly OperandKind[];
  /** The words that the first place takes, where there are few. */
  readonly choices?: readonly string[];
}

/** Names that only the running engine knows, and files. */
export type OperandKind =
  | 'function'
  | 'queue'
  | 'scope'
  | 'key'
  | 'stream'
  | 'worker'
  | 'trigger'
  | 'trace'
  | 'context'
  | 'file';

export interface Context<F extends FlagTable = FlagTable> {
  readonly flags: FlagValues<F>;
  readonly operands: readonly string[];
  readonly output: Output;
  readonly terminal: Terminal;
}

export interface Command<F extends FlagTable = FlagTable> {
  /** As typed: `functions list`. */
  readonly name: string;
  /** One line. */
  readonly summary: string;
  /** More, in paragraphs. */
  readonly details?: readonly string[];
  readonly operands?: Operands;
  readonly flags: F;
  /** What `-o` accepts; the first one is used without the flag. */
  readonly formats: readonly [Format, ...Format[]];
  readonly examples: readonly [Example, Example, ...Example[]];
  /** Exit codes worth knowing here, beside 0 and 2. */
  readonly exitCodes?: readonly ExitCode[];
  /** Runs the engine in this process, hence on the Node version that the engine needs (CLI-12). */
  readonly hostsEngine?: boolean;
  /** Throws what can be refused on any Node, before the engine's own is looked for. */
  checkFirst?(context: Context<F>): void;
  /** Listens for signals itself: it has something to say or to clean up before it ends (CLI-11). */
  readonly handlesSignals?: boolean;
  /** Its exit codes are those of monitoring systems; being called wrongly is one of them (CLI-4). */
  readonly monitors?: boolean;
  run(context: Context<F>): Promise<ExitCode>;
  /** Lines for `--help` that only the running engine knows (CLI-23); undefined when it cannot say. */
  explain?(context: Context<F>): Promise<readonly string[] | undefined>;
}

/** Gives `run` the exact types of the flags beside it. */
export function defineCommand<const F extends FlagTable>(command: Command<F>): Command<F> {
  return command;
}
