// The fields of a cron expression: the values that each may have, and the parser of one: `*`, values, names, ranges,
// steps, lists; and `L` and `#` in the day fields.

interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names for the numbers from `min` on. */
  readonly words: readonly string[];
  /** The two day fields support `?`, `L` and `#`, each some of them. */
  readonly kind: 'plain' | 'day' | 'weekday';
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** In the order of an expression with seven fields. */
export const CRON_FIELDS = {
  second: field('second', 0, 59),
  minute: field('minute', 0, 59),
  hour: field('hour', 0, 23),
  day: { ...field('day of month', 1, 31), kind: 'day' },
  month: { ...field('month', 1, 12), words: MONTHS },
  // 7 is Sunday too: it becomes 0 after parsing.
  weekday: { ...field('day of week', 0, 7), words: WEEKDAYS, kind: 'weekday' },
  year: field('year', 1970, 2199),
} as const satisfies Record<string, CronField>;

function field(name: string, min: number, max: number): CronField {
  return { name, min, max, words: [], kind: 'plain' };
}

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

/** `start`: the position of the field in the expression, counted from 0. */
export function readField(field: CronField, text: string, start: number): FieldValues {
  const found: Found = { values: new Set(), hasLastDay: false, nthWeekdays: [] };
  let at = start;
  for (const item of text.split(',')) {
    readItem({ field, text: item, position: at + 1 }, found);
    at += item.length + 1;
  }
  return {
    values: [...found.values].sort((a, b) => a - b),
    isGiven: text !== '*' && text !== '?',
    hasLastDay: found.hasLastDay,
    nthWeekdays: found.nthWeekdays,
  };
}

interface Found {
  readonly values: Set<number>;
  hasLastDay: boolean;
  readonly nthWeekdays: NthWeekday[];
}

interface Item {
  readonly field: CronField;
  readonly text: string;
  readonly position: number;
}

function readItem(item: Item, found: Found): void {
  const { text, field } = item;
  if (text === '') throw offence(item, 'holds nothing where a value should be');
  if (readSpecial(item, found)) return;
  const [base = '', step, ...more] = text.split('/');
  if (more.length > 0) throw offence(item, "has more than one '/'");
  const [first, last] = readRange({ ...item, text: base }, step !== undefined);
  const stride = step === undefined ? 1 : readStep(item, step);
  for (let value = first; value <= last; value += stride) found.values.add(value);
  if (field.kind === 'weekday' && found.values.delete(7)) found.values.add(0);
}

/** `L`, `5L` and `5#2`, which only the day fields support. Returns whether it was one of these. */
function readSpecial(item: Item, found: Found): boolean {
  const { text, field } = item;
  const isWeekday = field.kind === 'weekday';
  const isDay = field.kind === 'day';
  if (isDay && /^L$/i.test(text)) {
    found.hasLastDay = true;
    return true;
  }
  const [, kind, nth] = /^(\w+?)(?:L|#(\d))$/i.exec(text) ?? [];
  if (isWeekday && kind !== undefined) {
    const weekday = readValue({ ...item, text: kind }) % 7;
    const count = nth === undefined ? -1 : Number(nth);
    if (count === 0 || count > 5) throw offence(item, 'asks for a week of the month other than 1 to 5');
    found.nthWeekdays.push({ weekday, nth: count });
    return true;
  }
  if (isWeekday && /^L$/i.test(text)) throw offence(item, 'needs a day before the L: 5L is the last Friday');
  if (isDay && /W$|^L-/i.test(text)) throw offence(item, 'uses W or L-n, which are not supported');
  return false;
}

function readRange(item: Item, hasStep: boolean): [number, number] {
  const { text, field, position } = item;
  if (text === '*' || (text === '?' && field.kind !== 'plain')) {
    return [field.min, field.kind === 'weekday' ? SATURDAY : field.max];
  }
  const [from = '', to, ...more] = text.split('-');
  if (more.length > 0) throw offence(item, "has more than one '-'");
  const first = readValue({ ...item, text: from });
  // `5/10` begins at 5 and continues to the end.
  if (to === undefined) return [first, hasStep ? field.max : first];
  const end = readValue({ ...item, text: to, position: position + from.length + 1 });
  const last = field.kind === 'weekday' && end === 0 && first > 0 ? 7 : end;
  if (last < first) throw offence(item, 'is a descending range: write the lower end first');
  return [first, last];
}

function readStep(item: Item, step: string): number {
  const value = /^\d{1,4}$/.test(step) ? Number(step) : 0;
  if (value >= 1 && value <= item.field.max) return value;
  throw offence(item, `has the step '${cut(step)}': it must be a whole number from 1 to ${item.field.max}`);
}

function readValue(item: Item): number {
  const { text, field } = item;
  const word = field.words.indexOf(text.toLowerCase());
  if (word >= 0) return field.min + word;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= field.min && value <= field.max) return value;
  const words = field.words.length === 0 ? '' : ` or ${field.words[0]} to ${field.words.at(-1)}`;
  throw offence(item, `must be ${field.min} to ${field.max}${words}`);
}

function offence({ field, text, position }: Item, what: string): CronSyntaxError {
  return new CronSyntaxError(`the ${field.name} '${cut(text)}' at character ${position} ${what}`, position);
}

const SATURDAY = 6;
const SHOWN_CHARS_MAX = 20;

function cut(text: string): string {
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text;
}
