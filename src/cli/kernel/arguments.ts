// Parses the command line: flags by their table, everything else as operands.
//
// Node's parser splits the line into tokens. Their meaning is decided here, so that every error can quote the flag, the
// value and the nearest existing flag (CLI-8).

import { parseArgs } from 'node:util';
import { nearestWords } from '../../core/config-fields/nearest.ts';
import { type CliFailure, usageFailure } from './failures.ts';
import { type Flag, type FlagTable, type FlagValue, type FlagValues, readFlag } from './flags.ts';

export interface ParsedArguments<F extends FlagTable> {
  readonly flags: FlagValues<F>;
  readonly operands: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `--help` and `-h` work with every command and are in no table. */
export function asksForHelp(args: readonly string[], table: FlagTable): boolean {
  return tokenize(args, table).some(
    (token) => token.kind === 'option' && (token.name === 'help' || token.name === 'h'),
  );
}

export function parseArguments<F extends FlagTable>(
  args: readonly string[],
  table: F,
  env: Environment,
): ParsedArguments<F> {
  const given = new Map<string, FlagValue>();
  const operands: string[] = [];
  for (const token of tokenize(args, table)) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind === 'option') {
      const [name, value] = readOption(token, table);
      given.set(
        name,
        flagNamed(name, table)?.kind === 'texts' ? [...textsBefore(given.get(name)), String(value)] : value,
      );
    }
  }
  const values: Record<string, FlagValue> = {};
  for (const [name, flag] of Object.entries(table)) values[name] = given.get(name) ?? absentValue(flag, env);
  // `readFlag` returns by the kind of the flag what `FlagValues` derives from that kind.
  return { flags: values as FlagValues<F>, operands };
}

/** The flags of the table that can be read from a line that may be invalid; never fails. */
export function peekFlags<F extends FlagTable>(args: readonly string[], table: F): FlagValues<F> {
  const readable = tokenize(args, table).flatMap((token) => {
    if (token.kind !== 'option') return [];
    const text = token.value === undefined ? [token.rawName] : [token.rawName, token.value];
    try {
      readOption(token, table);
      return text;
    } catch {
      // The full parser reports the error, in the output format that this function finds.
      return [];
    }
  });
  return parseArguments(readable, table, {}).flags;
}

/** How often a flag is given: `-vv` counts twice. */
export function timesGiven(wanted: string, args: readonly string[], table: FlagTable): number {
  return tokenize(args, table).filter((token) => token.kind === 'option' && token.name === wanted).length;
}

interface OptionToken {
  readonly kind: 'option';
  readonly name: string;
  /** As typed: `--timeout`, `-o`. */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Written as `--flag=value`. */
  readonly inlineValue?: boolean | undefined;
}

function tokenize(args: readonly string[], table: FlagTable) {
  const options: Record<string, { type: 'boolean' | 'string'; short?: string }> = {};
  for (const [name, flag] of Object.entries(table)) {
    options[name] = {
      type: flag.kind === 'switch' ? 'boolean' : 'string',
      ...(flag.short === undefined ? {} : { short: flag.short }),
    };
  }
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function readOption({ name, rawName, value, inlineValue }: OptionToken, table: FlagTable): [string, FlagValue] {
  const flag = flagNamed(name, table);
  if (flag === undefined) {
    const positive = name.startsWith('no-') ? name.slice('no-'.length) : name;
    if (positive !== name && flagNamed(positive, table)?.kind === 'switch' && value === undefined) {
      return [positive, false];
    }
    throw unknownFlag(name, rawName, table);
  }
  if (flag.kind === 'switch') {
    if (value !== undefined) throw usageFailure(`${rawName} takes no value, got '${value}'.`);
    return [name, true];
  }
  if (value === undefined || (value.startsWith('--') && inlineValue !== true)) {
    throw usageFailure(`${rawName} needs a value: ${rawName} ${flag.placeholder}.`);
  }
  return [name, readFlag(flag, value, rawName)];
}

function absentValue(flag: Flag, env: Environment): FlagValue {
  if (flag.kind === 'switch') return false;
  if (flag.kind === 'texts') return [];
  const fromEnvironment = flag.env === undefined ? undefined : env[flag.env];
  // An empty variable counts as absent, as in the configuration file.
  if (flag.env !== undefined && fromEnvironment !== undefined && fromEnvironment !== '') {
    const isList = flag.kind === 'text' && flag.mayListAddresses === true;
    const [first = fromEnvironment] = isList ? fromEnvironment.split(/,(?=wss?:)/) : [];
    return readFlag(flag, first, flag.env);
  }
  return flag.fallback === undefined ? undefined : readFlag(flag, flag.fallback, 'The default');
}

function textsBefore(value: FlagValue): readonly string[] {
  return Array.isArray(value) ? value : [];
}

function unknownFlag(name: string, rawName: string, table: FlagTable): CliFailure {
  if (name === 'token') {
    return usageFailure(
      'A token is not accepted on the command line: process lists and the shell history would show it.',
      'Put it into a file and pass --token-file <file>, or set the variable SVC_TOKEN.',
    );
  }
  const [suggestion] = nearestWords(name, Object.keys(table));
  return usageFailure(
    `Unknown flag ${rawName}.`,
    suggestion === undefined ? 'List the flags with --help.' : `Did you mean --${suggestion}?`,
  );
}

function flagNamed(name: string, table: FlagTable): Flag | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
