// In or out: what is chosen, opened, hidden.

/** With it where it was missing, without it where it was. */
export function flip<T>(all: ReadonlySet<T>, one: T): ReadonlySet<T> {
  const next = new Set(all);
  if (!next.delete(one)) next.add(one);
  return next;
}

/** The same of a list, as addresses have them; what comes new stands last. */
export function flipIn<T>(all: readonly T[], one: T): readonly T[] {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}
