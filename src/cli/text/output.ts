// The output of a command. Data goes to stdout in the requested format; everything else goes to stderr (CLI-1), so that
// a pipe gets only data.

import { CliFailure, formatFailure, formatFailureJson } from '../kernel/failures.ts';
import { type ColourMode, createPainter, type Painter } from './colour.ts';
import { escapeUnsafe, stripUnsafeLines } from './display-text.ts';
import { asTyped } from './shell.ts';
import { type Column, formatCsv, formatTabbed, formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';
import type { TimeStyle } from './times.ts';

/** The last three are only for `svc check`. */
export type Format = 'table' | 'wide' | 'json' | 'jsonl' | 'csv' | 'text' | 'nagios' | 'prometheus';

export interface OutputOptions {
  readonly format: Format;
  /** JSON was requested, and is not only the default of the command; errors are JSON then, too. */
  readonly jsonAsked: boolean;
  /** Lists have tabs between their fields, and no heading. */
  readonly plain: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Verbose was given twice: every frame of the connection is printed, too. */
  readonly showsWire: boolean;
  readonly colour: ColourMode;
  readonly timeStyle: TimeStyle;
}

export interface Output extends OutputOptions {
  /** For text on stdout and on stderr; the one may be a pipe while the other is a terminal. */
  readonly paintOut: Painter;
  readonly paintErr: Painter;
  /** A list. The JSON formats print `records`, the others the columns. */
  printRows<Row>(list: { columns: readonly Column<Row>[]; rows: readonly Row[]; records: readonly unknown[] }): void;
  /** One thing: `value` as JSON, or `text` for people; untrusted text in it must be stripped. */
  printDocument(value: unknown, text: string): void;
  /** JSON in every format: indented on a terminal, one line in a pipe. */
  printJson(value: unknown): void;
  /** One JSON value of several, one per line. */
  printLine(value: unknown): void;
  /** Progress and remarks on stderr; suppressed by --quiet. */
  note(text: string): void;
  /** Writes commands as the user has to type them; `note`, `warn` and the hint of `fail` do it themselves. */
  typed(text: string): string;
  /** Only with --verbose. */
  detail(text: string): void;
  warn(text: string): void;
  fail(failure: CliFailure): void;
}

/** `commandWords`: see `asTyped`. */
export function createOutput(terminal: Terminal, options: OutputOptions, commandWords: readonly string[]): Output {
  const { out, err, env } = terminal;
  const { format, colour: mode } = options;
  const paintOut = createPainter({ mode, env, isTerminal: out.isTerminal });
  const paintErr = createPainter({ mode, env, isTerminal: err.isTerminal });
  const printLines = (lines: readonly string[]) => {
    if (lines.length > 0) out.write(`${lines.join('\n')}\n`);
  };
  const typed = (text: string) => asTyped(text, terminal.startedAs, commandWords);
  const printError = (text: string) => err.write(`${text}\n`);
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
      else if (options.plain) printLines(formatTabbed(shown, rows));
      else if (out.isTerminal) printTable(formatTable(shown, rows, format === 'wide' ? undefined : out.columns));
      // An empty list is no output in a pipe: `test -z` and `wc -l` work.
      else if (rows.length > 0) printTable(formatTable(shown, rows, undefined));
    },
    printDocument: (value, text) => {
      if (format === 'json') printLines([toJson(value, indent)]);
      else if (format === 'jsonl') printLines([toJson(value)]);
      else printLines([text]);
    },
    printJson: (value) => printLines([toJson(value, format === 'jsonl' ? undefined : indent)]),
    printLine: (value) => printLines([toJson(value)]),
    note: (text) => {
      if (!options.quiet) printError(typed(text));
    },
    typed,
    detail: (text) => {
      if (options.verbose) printError(paintErr.dim(text));
    },
    warn: (text) => printError(`${paintErr.yellow('warning:')} ${stripUnsafeLines(typed(text))}`),
    fail: ({ report }) => {
      const failure = new CliFailure({ ...report, ...(report.hint !== undefined && { hint: typed(report.hint) }) });
      printError(options.jsonAsked ? formatFailureJson(failure) : formatFailure(failure, paintErr.red));
    },
  };

  function printTable([heading = '', ...lines]: readonly string[]): void {
    printLines([paintOut.bold(heading), ...lines]);
  }

  function stripForTerminal(line: string): string {
    return out.isTerminal ? stripUnsafeLines(line) : line;
  }
}

/** Undefined has no JSON form: a call without a result prints null. */
function toJson(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value === undefined ? null : value, undefined, indent));
}
