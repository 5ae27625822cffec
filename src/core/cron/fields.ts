// The fields of a cron expression. cron-parser reads the values of seconds to weekdays, item by item; this file finds
// the items and their positions, refuses what cron-parser accepts although it means nothing, and reads the year, which
// cron-parser does not have.

/** What is needed of cron-parser, whose `CronExpressionParser` it is. */
export interface CronLibrary {
  parse(expression: string): { readonly fields: Readonly<Record<LibraryField, { readonly values: Values }>> };
}

type Values = readonly (number | string)[];
type LibraryField = 'second' | 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek';

interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of values, to be shown in an error. */
  readonly words: string;
  /** Its place in an expression of six fields; undefined for the year. */
  readonly place: number | undefined;
}

/** The fields of cron-parser, in the order of an expression. */
const LIBRARY_FIELDS: readonly LibraryField[] = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'];

export const CRON_FIELDS = {
  second: { name: 'second', min: 0, max: 59, words: '', place: 0 },
  minute: { name: 'minute', min: 0, max: 59, words: '', place: 1 },
  hour: { name: 'hour', min: 0, max: 23, words: '', place: 2 },
  day: { name: 'day of month', min: 1, max: 31, words: '', place: 3 },
  month: { name: 'month', min: 1, max: 12, words: ' or jan to dec', place: 4 },
  weekday: { name: 'day of week', min: 0, max: 7, words: ' or sun to sat', place: 5 },
  year: { name: 'year', min: 1970, max: 2199, words: '', place: undefined },
} as const satisfies Record<string, CronField>;

/** The content of a field. */
export interface FieldValues {
  /** Ascending, without repetition. */
  readonly values: readonly number[];
  /** Anything but `*` or `?`: only then do the two day fields restrict each other. */
  readonly isGiven: boolean;
  /** Day of month: also the last one. */
  readonly hasLastDay: boolean;
  /** Day of week: also the nth of its kind in the month; -1 is the last. */
  readonly nthWeekdays: readonly NthWeekday[];
}

export interface NthWeekday {
  readonly weekday: number;
  readonly nth: number;
}

/** An error in an expression, with its position: characters are counted from 1. */
export class CronSyntaxError extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'CronSyntaxError';
    this.position = position;
  }
}

interface Item {
  readonly field: CronField;
  readonly text: string;
  readonly position: number;
}

/** `start`: the position of the field in the expression, counted from 0. */
export function readField(library: CronLibrary, field: CronField, text: string, start: number): FieldValues {
  const values = new Set<number>();
  const nthWeekdays: NthWeekday[] = [];
  let hasLastDay = false;
  let at = start;
  for (const part of text.split(',')) {
    const item = { field, text: part, position: at + 1 };
    const read = isNth(item) ? [] : valuesOf(library, item);
    if (isNth(item)) nthWeekdays.push(readNth(library, item));
    for (const value of read) {
      if (value === 'L') hasLastDay = true;
      else values.add(field.name === CRON_FIELDS.weekday.name ? Number(value) % 7 : Number(value));
    }
    at += part.length + 1;
  }
  return {
    values: [...values].sort((a, b) => a - b),
    isGiven: text !== '*' && text !== '?',
    hasLastDay,
    nthWeekdays,
  };
}

function valuesOf(library: CronLibrary, item: Item): Values {
  const { text, field } = item;
  if (text === '') throw offence(item, 'holds nothing where a value should be');
  refuseUnsupported(item);
  const [, base = '', step] = /^([^/]*)(?:\/([^/]*))?$/.exec(text) ?? [];
  if (step !== undefined && !isStep(step, field)) {
    throw offence(item, `has the step '${cut(step)}': it must be a whole number from 1 to ${field.max}`);
  }
  if (!isBase(item, base)) throw outOfRange(item);
  return field.place === undefined ? yearsOf(item, base, step) : read(library, item, upToSunday(item));
}

// cron-parser takes a step that no value reaches, such as 70 for a minute.
function isStep(step: string, field: CronField): boolean {
  return /^\d{1,4}$/.test(step) && Number(step) >= 1 && Number(step) <= field.max;
}

/** cron-parser takes `?` in every field, and `H` for a random value. */
function isBase({ field }: Item, base: string): boolean {
  const isDay = field.name === CRON_FIELDS.day.name;
  if (base === '?') return isDay || field.name === CRON_FIELDS.weekday.name;
  if (base === '*' || (isDay && /^L$/i.test(base))) return true;
  const value = field.words === '' ? /^\d{1,4}$/ : /^(\d{1,4}|[a-z]{3})$/i;
  const bounds = base.split('-');
  return bounds.length <= 2 && bounds.every((bound) => value.test(bound));
}

function refuseUnsupported(item: Item): void {
  const { text, field } = item;
  if (field.name === CRON_FIELDS.weekday.name && /^L$/i.test(text)) {
    throw offence(item, 'needs a day before the L: 5L is the last Friday');
  }
  if (field.name === CRON_FIELDS.day.name && /W$|^L-/i.test(text)) {
    throw offence(item, 'uses W or L-n, which are not supported');
  }
}

/** `fri-sun` ends with the Sunday after, which cron-parser knows as 7 only. */
function upToSunday({ text, field }: Item): string {
  if (field.name !== CRON_FIELDS.weekday.name) return text.toUpperCase();
  return text.replace(/^([1-7]|mon|tue|wed|thu|fri|sat)-(0|sun)(?=\/|$)/i, '$1-7');
}

function read(library: CronLibrary, item: Item, text: string): Values {
  const place = item.field.place ?? 0;
  const fields = LIBRARY_FIELDS.map((_field, at) => (at === place ? text : '*'));
  try {
    return library.parse(fields.join(' ')).fields[LIBRARY_FIELDS[place] ?? 'second'].values;
  } catch {
    // The message of cron-parser names neither field nor position.
    throw isDescending(item) ? offence(item, 'is a descending range: write the lower end first') : outOfRange(item);
  }
}

function isDescending({ text }: Item): boolean {
  const [, from, to] = /^(\d+)-(\d+)/.exec(text) ?? [];
  return Number(from) > Number(to);
}

/** `5L` and `5#2`. */
function isNth({ text, field }: Item): boolean {
  return field.name === CRON_FIELDS.weekday.name && /^\w+?(L|#\d)$/i.test(text) && text.length > 1;
}

function readNth(library: CronLibrary, item: Item): NthWeekday {
  const [, weekday = '', nth] = /^(\w+?)(?:L|#(\d))$/i.exec(item.text) ?? [];
  const count = nth === undefined ? -1 : Number(nth);
  if (count === 0 || count > 5) throw offence(item, 'asks for a week of the month other than 1 to 5');
  const [value] = valuesOf(library, { ...item, text: weekday });
  return { weekday: Number(value) % 7, nth: count };
}

function yearsOf(item: Item, base: string, step: string | undefined): Values {
  const { min, max } = item.field;
  const [from = '', to] = base === '*' ? [String(min), String(max)] : base.split('-');
  const first = Number(from);
  const last = to === undefined ? (step === undefined ? first : max) : Number(to);
  if (first < min || last > max) throw outOfRange(item);
  if (last < first) throw offence(item, 'is a descending range: write the lower end first');
  const stride = Number(step ?? 1);
  return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, index) => first + index * stride);
}

function outOfRange(item: Item): CronSyntaxError {
  const { min, max, words } = item.field;
  return offence(item, `must be ${min} to ${max}${words}, a range such as ${min}-${max} or a step such as */2`);
}

function offence({ field, text, position }: Item, what: string): CronSyntaxError {
  return new CronSyntaxError(`the ${field.name} '${cut(text)}' at character ${position} ${what}`, position);
}

const SHOWN_CHARS_MAX = 20;

function cut(text: string): string {
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}
