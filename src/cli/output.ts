// What a command says. Data goes to stdout in the format that was asked for; everything else goes to stderr
// (CLI-1), so that a pipe never needs cleaning.

import { type ColourMode, createPainter, type Painter } from './colour.ts';
import { escapeUnsafe, stripUnsafeLines } from './display-text.ts';
import type { TimeStyle } from './durations.ts';
import { CliFailure, formatFailure, formatFailureJson } from './failures.ts';
import { asTyped } from './started-as.ts';
import { type Column, formatCsv, formatTabbed, formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** The last three are for `svc check` alone. */
export type Format = 'table' | 'wide' | 'json' | 'jsonl' | 'csv' | 'text' | 'nagios' | 'prometheus';

export interface OutputOptions {
  readonly format: Format;
  /** JSON was asked for, rather than being what the command prints anyway; errors are JSON as well then. */
  readonly jsonAsked: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Verbose was asked for twice: what travels on the wire is told as well. */
  readonly showsWire: boolean;
  readonly colour: ColourMode;
  readonly timeStyle: TimeStyle;
}

export interface Output extends OutputOptions {
  /** For text on stdout and on stderr; the one may be a pipe while the other is a terminal. */
  readonly paintOut: Painter;
  readonly paintErr: Painter;
  /** A list. The JSON forms carry `records`, the others the columns. */
  printRows<Row>(list: { columns: readonly Column<Row>[]; rows: readonly Row[]; records: readonly unknown[] }): void;
  /** One thing: `value` as JSON, or `text` for human eyes; text of strangers in it must be stripped. */
  printDocument(value: unknown, text: string): void;
  /** JSON whatever the format: indented on a terminal, one line in a pipe. */
  printJson(value: unknown): void;
  /** One JSON value of several, one per line. */
  printLine(value: unknown): void;
  /** Progress and remarks on stderr; left out by --quiet. */
  note(text: string): void;
  /** Names commands as they are typed here; `note`, `warn` and the hint of `fail` see to it themselves. */
  typed(text: string): string;
  /** Only with --verbose. */
  detail(text: string): void;
  warn(text: string): void;
  fail(failure: CliFailure): void;
}

export function createOutput(terminal: Terminal, options: OutputOptions): Output {
  const { out, err, env } = terminal;
  const { format, colour: mode } = options;
  const paintOut = createPainter({ mode, env, isTerminal: out.isTerminal });
  const paintErr = createPainter({ mode, env, isTerminal: err.isTerminal });
  const printLines = (lines: readonly string[]) => {
    if (lines.length > 0) out.write(`${lines.join('\n')}\n`);
  };
  const typed = (text: string) => asTyped(text, terminal.startedAs);
  const say = (text: string) => err.write(`${text}\n`);
  const indent = out.isTerminal ? 2 : undefined;

  return {
    ...options,
    paintOut,
    paintErr,
    printRows: ({ columns, rows, records }) => {
      const shown = format === 'table' ? columns.filter((column) => column.wideOnly !== true) : columns;
      if (format === 'json') printLines([toJson(records, indent)]);
      else if (format === 'jsonl') printLines(records.map((record) => toJson(record)));
      else if (format === 'csv') printLines(formatCsv(columns, rows).map((line) => stripForTerminal(line)));
      else if (out.isTerminal) printTable(formatTable(shown, rows, format === 'wide' ? undefined : out.columns));
      else printLines(formatTabbed(shown, rows));
    },
    printDocument: (value, text) => {
      if (format === 'json') printLines([toJson(value, indent)]);
      else if (format === 'jsonl') printLines([toJson(value)]);
      else printLines([text]);
    },
    printJson: (value) => printLines([toJson(value, format === 'jsonl' ? undefined : indent)]),
    printLine: (value) => printLines([toJson(value)]),
    note: (text) => {
      if (!options.quiet) say(typed(text));
    },
    typed,
    detail: (text) => {
      if (options.verbose) say(paintErr.dim(text));
    },
    warn: (text) => say(`${paintErr.yellow('warning:')} ${stripUnsafeLines(typed(text))}`),
    fail: ({ facts }) => {
      const failure = new CliFailure({ ...facts, ...(facts.hint !== undefined && { hint: typed(facts.hint) }) });
      say(options.jsonAsked ? formatFailureJson(failure) : formatFailure(failure, paintErr.red));
    },
  };

  function printTable([heading = '', ...lines]: readonly string[]): void {
    printLines([paintOut.bold(heading), ...lines]);
  }

  function stripForTerminal(line: string): string {
    return out.isTerminal ? stripUnsafeLines(line) : line;
  }
}

/** Undefined has no JSON; what gives nothing back is printed as null. */
function toJson(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value === undefined ? null : value, undefined, indent));
}
