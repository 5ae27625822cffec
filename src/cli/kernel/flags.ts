// What a flag is, and how its text becomes a value. A value comes from the command line, else from the environment,
// else from the fallback; all three are text and are parsed in the same way. At the end the flags that many commands
// share: those that every command accepts, before and after its name, and those of commands that connect to an engine.

import { CALL_TIMEOUT_MS_MAX } from '../../protocol/frames/limits.ts';
import { parseDurationMs } from '../text/times.ts';
import { usageFailure } from './failures.ts';

interface FlagBase {
  readonly help: string;
  /** One letter: `-o`. */
  readonly short?: string;
  /** Environment variable that gives the value when the flag is absent. */
  readonly env?: string;
}

/** Absent means false; `--no-<name>` sets it to false again. */
export interface SwitchFlag extends FlagBase {
  readonly kind: 'switch';
}

interface ValueFlagBase extends FlagBase {
  /** Shown in help and error texts: `<file>`. */
  readonly placeholder: string;
  readonly fallback?: string;
}

export interface TextFlag extends ValueFlagBase {
  readonly kind: 'text';
  /** Its variable may hold several addresses, for workers; a command uses the first one. */
  readonly mayListAddresses?: boolean;
}

/** May be repeated; the values in their order, none when it is absent. */
export interface TextsFlag extends FlagBase {
  readonly kind: 'texts';
  readonly placeholder: string;
  readonly fallback?: undefined;
}

export interface CountFlag extends ValueFlagBase {
  readonly kind: 'count';
  readonly min: number;
  readonly max: number;
}

/** Read as milliseconds from `250ms`, `10s`, `5m`, `1h`. */
export interface DurationFlag extends ValueFlagBase {
  readonly kind: 'duration';
  /** Default 1: a duration of 0 is usually a mistake. */
  readonly minMs?: number;
  readonly maxMs: number;
}

export interface ChoiceFlag extends ValueFlagBase {
  readonly kind: 'choice';
  readonly choices: readonly string[];
}

export type ValueFlag = TextFlag | TextsFlag | CountFlag | DurationFlag | ChoiceFlag;
export type Flag = SwitchFlag | ValueFlag;
export type FlagTable = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : F extends CountFlag | DurationFlag
    ? number
    : F extends TextsFlag
      ? readonly string[]
      : string;

/** The values of a table of flags: undefined is possible only without a fallback. */
export type FlagValues<T extends FlagTable> = {
  readonly [Name in keyof T]: T[Name] extends SwitchFlag
    ? boolean
    : ValueOf<T[Name]> | (T[Name] extends { readonly fallback: string } | TextsFlag ? never : undefined);
};

export type FlagValue = string | number | boolean | readonly string[] | undefined;

/** The value of the text, or a failure that quotes the flag or variable, the text and what was expected. */
export function readFlag(flag: ValueFlag, text: string, source: string): string | number {
  switch (flag.kind) {
    case 'text':
    case 'texts':
      if (text === '') throw usageFailure(`${source} is empty: expected ${flag.placeholder}.`);
      return text;
    case 'count':
      return readCount(flag, text, source);
    case 'duration':
      return readDuration(flag, text, source);
    case 'choice':
      if (flag.choices.includes(text)) return text;
      throw usageFailure(`${source} is '${text}': expected one of ${flag.choices.join(', ')}.`);
  }
}

function readCount({ min, max }: CountFlag, text: string, source: string): number {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw usageFailure(`${source} is '${text}': expected a whole number from ${min} to ${max}.`);
}

function readDuration({ minMs = 1, maxMs }: DurationFlag, text: string, source: string): number {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined && durationMs >= minMs && durationMs <= maxMs) return durationMs;
  const allowed = `from ${minMs}ms to ${maxMs / 3_600_000}h`;
  throw usageFailure(`${source} is '${text}': expected a duration such as 250ms, 10s, 5m or 1h, ${allowed}.`);
}

/** Of commands that ask for confirmation (CLI-6). */
export const CONFIRM_FLAGS = {
  yes: { kind: 'switch', short: 'y', help: 'Do not ask for confirmation.' },
  'no-input': { kind: 'switch', help: 'Never ask; fail when an answer is needed.' },
} as const satisfies FlagTable;

export const OUTPUT_FLAGS = {
  output: {
    kind: 'choice',
    short: 'o',
    placeholder: '<format>',
    choices: ['table', 'wide', 'json', 'jsonl', 'csv', 'text', 'nagios', 'prometheus'],
    help: 'Output format; see: svc help output.',
  },
  json: { kind: 'switch', help: 'Same as -o json; errors become JSON as well.' },
  plain: { kind: 'switch', help: 'Lists as tab-separated lines without a heading, for cut and awk.' },
  quiet: { kind: 'switch', short: 'q', help: 'Only results, warnings and errors.' },
  verbose: { kind: 'switch', short: 'v', help: 'Print more on stderr, and full stacks. Twice: also every frame.' },
  color: {
    kind: 'choice',
    placeholder: '<when>',
    choices: ['auto', 'always', 'never'],
    fallback: 'auto',
    help: 'When to use colour.',
  },
  time: {
    kind: 'choice',
    placeholder: '<style>',
    choices: ['relative', 'local', 'utc'],
    fallback: 'relative',
    help: 'Format of times.',
  },
} as const satisfies FlagTable;

/** Commands that ask no question accept the answer flags, too: a script can pass them to all commands. */
export const GLOBAL_FLAGS = { ...OUTPUT_FLAGS, ...CONFIRM_FLAGS } as const;

/** For addresses with `wss://` and `https://`. */
export const TLS_FLAGS = {
  'ca-file': {
    kind: 'text',
    placeholder: '<file>',
    env: 'SVC_CA_FILE',
    help: 'With wss:// or https://: the only authority to trust, PEM.',
  },
  'cert-file': {
    kind: 'text',
    placeholder: '<file>',
    env: 'SVC_CERT_FILE',
    help: 'Your certificate, for an engine that requires one.',
  },
  'key-file': { kind: 'text', placeholder: '<file>', env: 'SVC_KEY_FILE', help: 'Its private key.' },
  'server-name': {
    kind: 'text',
    placeholder: '<name>',
    env: 'SVC_SERVER_NAME',
    help: "Name in the engine's certificate, if not the host.",
  },
} as const satisfies FlagTable;

export const CONNECTION_FLAGS = {
  url: {
    kind: 'text',
    placeholder: '<address>',
    env: 'SVC_URL',
    mayListAddresses: true,
    fallback: 'ws://127.0.0.1:49134',
    help: 'Address of the engine.',
  },
  'token-file': {
    kind: 'text',
    placeholder: '<file>',
    env: 'SVC_TOKEN_FILE',
    help: 'File that holds the bridge token. SVC_TOKEN may hold the token itself.',
  },
  ...TLS_FLAGS,
  context: {
    kind: 'text',
    placeholder: '<name>',
    env: 'SVC_CONTEXT',
    help: 'Name of a saved engine; see: svc context list.',
  },
  timeout: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '30s',
    maxMs: CALL_TIMEOUT_MS_MAX,
    help: 'How long to wait for the engine and for each answer.',
  },
} as const satisfies FlagTable;
