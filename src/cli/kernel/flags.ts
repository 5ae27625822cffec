// What a flag is, and how its text becomes a value. A value comes from the command line, else from the environment,
// else from the fallback; all three are text and are parsed in the same way.

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
