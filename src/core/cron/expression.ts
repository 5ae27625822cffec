// Parses the text of a cron expression into its times, or into an error with its position (PD-53).
//
// Five fields begin with the minute, six and seven with the second; the seventh is the year. Where both day of month
// and day of week are given, in five fields either may match, as in a crontab; in six and seven both must.

import {
  CRON_FIELDS,
  type CronLibrary,
  CronSyntaxError,
  type FieldValues,
  type NthWeekday,
  readField,
} from './fields.ts';

/** The calendar times of an expression; all lists are ascending. */
export interface CronTimes {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** The hour is `*`: such times follow elapsed time, not the local time, when the two diverge. */
  readonly isEveryHour: boolean;
  /** 1 to 12. */
  readonly months: readonly number[];
  /** Undefined: any. */
  readonly years: readonly number[] | undefined;
  readonly days: DayRule;
}

export interface DayRule {
  /** How day of month and day of week are combined. */
  readonly combine: 'both' | 'either';
  /** Undefined: any. */
  readonly monthdays: { readonly days: ReadonlySet<number>; readonly hasLast: boolean } | undefined;
  readonly weekdays: { readonly days: ReadonlySet<number>; readonly nth: readonly NthWeekday[] } | undefined;
}

export type ReadExpression =
  | { readonly ok: true; readonly times: CronTimes }
  /** In words that name field and position. */
  | { readonly ok: false; readonly reason: string };

const EXPRESSION_CHARS_MAX = 256;

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

export function readExpression(text: string, library: CronLibrary): ReadExpression {
  if (text.length > EXPRESSION_CHARS_MAX) {
    return refuse(`has ${text.length} characters; the limit is ${EXPRESSION_CHARS_MAX}`);
  }
  const trimmed = text.trim().toLowerCase();
  const expanded = Object.hasOwn(MACROS, trimmed) ? MACROS[trimmed] : undefined;
  if (trimmed.startsWith('@') && expanded === undefined) {
    return refuse(`'${trimmed}' is unknown; known are ${Object.keys(MACROS).join(', ')}`);
  }
  try {
    return readFields(expanded ?? text, library);
  } catch (error) {
    if (error instanceof CronSyntaxError) return refuse(`'${text}' is wrong: ${error.message}`);
    throw error;
  }
}

function refuse(what: string): ReadExpression {
  return { ok: false, reason: `The cron expression ${what}` };
}

function readFields(text: string, library: CronLibrary): ReadExpression {
  const fields = [...text.matchAll(/\S+/g)].map((match) => ({ text: match[0], start: match.index }));
  if (fields.length < 5 || fields.length > 7) {
    const needed = 'five (minute first), six (second first) or seven (year last)';
    return refuse(`'${text}' has ${fields.length} fields; ${needed} are needed`);
  }
  const [second, minute, hour, day, month, weekday, year] = fields.length === 5 ? [undefined, ...fields] : fields;
  const read = (rule: (typeof CRON_FIELDS)[keyof typeof CRON_FIELDS], field = { text: '0', start: 0 }) =>
    readField(library, rule, field.text, field.start);
  const hours = read(CRON_FIELDS.hour, hour);
  const years = year === undefined ? undefined : read(CRON_FIELDS.year, year);
  return {
    ok: true,
    times: {
      seconds: read(CRON_FIELDS.second, second).values,
      minutes: read(CRON_FIELDS.minute, minute).values,
      hours: hours.values,
      isEveryHour: !hours.isGiven,
      months: read(CRON_FIELDS.month, month).values,
      years: years?.isGiven === true ? years.values : undefined,
      days: dayRule(read(CRON_FIELDS.day, day), read(CRON_FIELDS.weekday, weekday), fields.length === 5),
    },
  };
}

function dayRule(days: FieldValues, weekdays: FieldValues, eitherMayMatch: boolean): DayRule {
  return {
    combine: eitherMayMatch ? 'either' : 'both',
    monthdays: days.isGiven ? { days: new Set(days.values), hasLast: days.hasLastDay } : undefined,
    weekdays: weekdays.isGiven ? { days: new Set(weekdays.values), nth: weekdays.nthWeekdays } : undefined,
  };
}
