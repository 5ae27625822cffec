// A list that grows at its top while it is shown (LIV-3, LIV-4). New rows are shown at once while the list is followed.
// While it is held they wait and are counted. Pure: the caller keeps the value.

export interface LiveRows<T> {
  /** By key. Shown rows, in the order of arrival. */
  readonly shown: ReadonlyMap<string, T>;
  /** Arrived while the list was held. */
  readonly waiting: ReadonlyMap<string, T>;
  /** Rows that did not fit among those that wait. */
  readonly dropped: number;
}

export const NO_LIVE_ROWS: LiveRows<never> = {
  shown: new Map<string, never>(),
  waiting: new Map<string, never>(),
  dropped: 0,
};

/** Rows kept of each kind. Older ones are on the server. */
export const LIVE_ROWS_MAX = 5_000;

export function receive<T>(
  rows: LiveRows<T>,
  items: readonly T[],
  keyOf: (item: T) => string,
  isHeld: boolean,
): LiveRows<T> {
  const target = new Map(isHeld ? rows.waiting : rows.shown);
  for (const item of items) target.set(keyOf(item), item);
  const over = trim(target);
  return isHeld ? { ...rows, waiting: target, dropped: rows.dropped + over } : { ...rows, shown: target };
}

/** Shows the rows that wait. */
export function release<T>(rows: LiveRows<T>): LiveRows<T> {
  const shown = new Map(rows.shown);
  for (const [key, item] of rows.waiting) shown.set(key, item);
  trim(shown);
  return { shown, waiting: new Map(), dropped: 0 };
}

/** Removes the oldest until the limit holds. Returns how many. */
function trim(rows: Map<string, unknown>): number {
  let removed = 0;
  for (const key of rows.keys()) {
    if (rows.size <= LIVE_ROWS_MAX) break;
    rows.delete(key);
    removed += 1;
  }
  return removed;
}

/** The server's list with the live rows: a live row replaces the listed one. */
export function overlay<T>(listed: readonly T[], live: ReadonlyMap<string, T>, keyOf: (item: T) => string): T[] {
  if (live.size === 0) return [...listed];
  const known = new Set(listed.map(keyOf));
  const fresh = [...live].filter(([key]) => !known.has(key)).map(([, item]) => item);
  return [...fresh, ...listed.map((item) => live.get(keyOf(item)) ?? item)];
}
