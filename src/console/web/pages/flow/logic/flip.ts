// Adds or removes an entry of a set: selected, opened, hidden.

/** Adds the entry where it was missing, removes it where it was present. */
export function flip<T>(all: ReadonlySet<T>, one: T): ReadonlySet<T> {
  const next = new Set(all);
  if (!next.delete(one)) next.add(one);
  return next;
}

/** The same for a list, as addresses have it. A new entry is added at the end. */
export function flipIn<T>(all: readonly T[], one: T): readonly T[] {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}
