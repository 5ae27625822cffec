// What two texts have in common when numbers, ids and quoted values are left out: the key by which repeated spans, log
// messages and dead letters fold into one row.

const PARTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>'],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?/g, '<time>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  // Hexadecimal words count as ids only if they contain a digit and a letter: `decade` is a word.
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b/gi, '<id>'],
  [/\d+(?:\.\d+)?/g, '#'],
];
/** Of longer texts only the beginning is used: the key must be cheap for a message of a megabyte. */
const JUDGED_CHARS_MAX = 512;

export function similarKey(text: string): string {
  const judged = text.length > JUDGED_CHARS_MAX ? text.slice(0, JUDGED_CHARS_MAX) : text;
  return PARTS.reduce((rest, [part, sign]) => rest.replace(part, sign), judged);
}

export interface SimilarGroup<T> {
  readonly key: string;
  readonly items: readonly T[];
}

/** Groups in the order of their first member, members in the order of arrival. */
export function groupSimilar<T>(items: readonly T[], textOf: (item: T) => string): SimilarGroup<T>[] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = similarKey(textOf(item));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups].map(([key, members]) => ({ key, items: members }));
}
