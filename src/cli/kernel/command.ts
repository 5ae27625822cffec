// The exports of a file in `commands/`: a description for help, parser and catalogue, and the function to run.

import type { Format, Output } from '../text/output.ts';
import type { Terminal } from '../text/terminal.ts';
import type { ExitCode } from './failures.ts';
import type { FlagTable, FlagValues } from './flags.ts';

export interface Example {
  /** A line that works when pasted. */
  readonly line: string;
  readonly shows: string;
}

/** The operands in the usage line: `<id> [key=value …]`. */
export interface Operands {
  readonly usage: string;
  readonly min: number;
  readonly max: number;
  readonly help: string;
  /** The kind of each operand, for shell completion; the last kind applies to all further operands. */
  readonly kinds?: readonly OperandKind[];
  /** The possible values of the first operand, if there are few. */
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
  /** Exit codes that help lists, in addition to 0 and 2. */
  readonly exitCodes?: readonly ExitCode[];
  /** Runs the engine in this process, hence on the Node version that the engine needs (CLI-12). */
  readonly hostsEngine?: boolean;
  /** Throws usage errors that any Node can find, before the engine's Node is looked up. */
  checkFirst?(context: Context<F>): void;
  /** Handles signals itself, because it has output or cleanup left when it ends (CLI-11). */
  readonly handlesSignals?: boolean;
  /** Uses the exit codes of monitoring systems, also for usage errors (CLI-4). */
  readonly monitors?: boolean;
  run(context: Context<F>): Promise<ExitCode>;
  /** Lines for `--help` from the running engine (CLI-23); undefined when there is no answer. */
  explain?(context: Context<F>): Promise<readonly string[] | undefined>;
}

/** Gives `run` the exact types of its flags. */
export function defineCommand<const F extends FlagTable>(command: Command<F>): Command<F> {
  return command;
}
