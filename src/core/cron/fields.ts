// The values that each field of a cron expression may have.

export interface CronField {
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
