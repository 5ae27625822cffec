// Help texts at every level (CLI-7), generated from the tables that the parser uses. Less than 80 columns wide.

import { formatPairs, INDENT, TEXT_COLUMNS, wrap } from '../text/display-text.ts';
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import type { Command, Example } from './command.ts';
import { EXIT_MEANINGS, type ExitCode, MONITOR_CODES } from './failures.ts';
import { CONNECTION_FLAGS, type Flag, type FlagTable, GLOBAL_FLAGS, OUTPUT_FLAGS } from './flags.ts';
import { TOPICS } from './help-topics.ts';

export function formatRootHelp(version: string, catalogue: Catalogue): string {
  const sections = Object.entries(catalogue.sections).flatMap(([section, entries]) => {
    const rows = entries.filter((entry) => entry.aliasOf === undefined).map(entryRow);
    if (section === 'Help')
      rows.push(['help', `Show the help of a command or topic: ${Object.keys(TOPICS).join(', ')}.`]);
    return [section, ...formatPairs(rows), ''];
  });
  return join([
    `svc ${version}: an engine that calls the functions of connected workers.`,
    '',
    'Usage: svc <command> [flags]',
    '       svc [--config <file>]    start the engine',
    '',
    ...sections,
    'Flags of every command',
    ...formatFlags({ ...GLOBAL_FLAGS, help: HELP_FLAG }),
    '',
    'Flags of commands that connect to an engine',
    ...formatFlags(CONNECTION_FLAGS),
    '',
    ...formatExamples([
      { line: 'svc --config svc-config.yaml', shows: 'Starts the engine.' },
      { line: 'svc trigger orders::create sku=a1', shows: 'Calls a function with the payload {"sku":"a1"}.' },
      { line: 'svc function list --json', shows: 'Lists the functions for a script.' },
    ]),
  ]);
}

export function formatGroupHelp(group: string, members: readonly CatalogueEntry[]): string {
  return join([
    `Usage: svc ${group} <command> [flags]`,
    '',
    ...formatPairs(members.map(entryRow)),
    '',
    `Flags and examples of a command: svc ${members[0]?.name ?? group} --help`,
  ]);
}

/** `explained`: lines from the running engine; see `Command.explain`. */
export function formatCommandHelp(command: Command, explained: readonly string[] = []): string {
  const { name, summary, details = [], operands, flags, formats, examples, exitCodes = [] } = command;
  const usage = ['svc', name, operands?.usage, '[flags]'].filter((part) => part !== undefined).join(' ');
  const own = { ...flags };
  const connection: Record<string, Flag> = {};
  for (const [flagName, flag] of Object.entries(CONNECTION_FLAGS)) {
    if (own[flagName] !== flag) continue;
    delete own[flagName];
    connection[flagName] = flag;
  }
  return join([
    summary,
    '',
    `Usage: ${usage}`,
    ...(operands === undefined ? [] : ['', ...indented(operands.help)]),
    ...details.flatMap((paragraph) => ['', ...wrap(paragraph, TEXT_COLUMNS)]),
    ...section(explained),
    ...section(formatFlags(own), 'Flags'),
    ...section(formatFlags(connection), 'Engine'),
    ...section(formatFlags({ ...outputFlags(formats), help: HELP_FLAG }), 'Output'),
    ...section(formatExamples(examples)),
    ...section(exitCodes.length === 0 ? [] : formatExitCodes(exitCodes), 'Exit codes, in addition to 0 and 2'),
    ...section(command.monitors === true ? formatPairs(MONITOR_CODES) : [], 'Exit codes for monitoring systems'),
  ]);
}

/** `-o` with what this command prints, the default first. */
function outputFlags(formats: readonly string[]): FlagTable {
  return { ...OUTPUT_FLAGS, output: { ...OUTPUT_FLAGS.output, choices: formats } };
}

const HELP_FLAG: Flag = { kind: 'switch', short: 'h', help: 'Show this help.' };

function formatExitCodes(codes: readonly ExitCode[]): string[] {
  return formatPairs(codes.map((code) => [String(code), EXIT_MEANINGS[code]]));
}

function formatFlags(flags: FlagTable): string[] {
  return formatPairs(Object.entries(flags).map(([name, flag]) => [flagUsage(name, flag), flagText(flag)]));
}

function flagUsage(name: string, flag: Flag): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  return `${short}--${name}${flag.kind === 'switch' ? '' : ` ${flag.placeholder}`}`;
}

function flagText(flag: Flag): string {
  if (flag.kind === 'switch') return flag.help;
  const notes = [
    ...(flag.kind === 'choice' ? [`one of ${flag.choices.join(', ')}`] : []),
    ...(flag.fallback === undefined ? [] : [`default ${flag.fallback}`]),
    ...(flag.env === undefined ? [] : [`environment ${flag.env}`]),
  ];
  return notes.length === 0 ? flag.help : `${flag.help} [${notes.join('; ')}]`;
}

function formatExamples(examples: readonly Example[]): string[] {
  return ['Examples', ...examples.flatMap(({ line, shows }) => [`${INDENT}${line}`, `${INDENT}${INDENT}${shows}`])];
}

function entryRow(entry: CatalogueEntry): [string, string] {
  return [entry.name, entry.summary];
}

function section(lines: readonly string[], title?: string): string[] {
  if (lines.length === 0) return [];
  return ['', ...(title === undefined ? [] : [title]), ...lines];
}

function indented(text: string): string[] {
  return wrap(text, TEXT_COLUMNS - INDENT.length).map((line) => INDENT + line);
}

function join(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
