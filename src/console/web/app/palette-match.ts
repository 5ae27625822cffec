// Finding by a few letters, fast enough for ten thousand names per keystroke (KEY-2).

/**
 * Lower is better; undefined: no match. Letters must come in order. Starts of segments and runs of letters count more.
 */
export function matchScore(text: string, wanted: string): number | undefined {
  const at = text.indexOf(wanted);
  if (at >= 0) return at === 0 ? 0 : isStart(text, at) ? 1 + at / 1_000 : 3 + at / 1_000;
  let from = 0;
  let jumps = 0;
  for (const letter of wanted) {
    const found = text.indexOf(letter, from);
    if (found < 0) return undefined;
    if (found !== from && !isStart(text, found)) jumps++;
    from = found + 1;
  }
  return 10 + jumps + text.length / 1_000;
}

function isStart(text: string, at: number): boolean {
  return at === 0 || ':./-_ '.includes(text.charAt(at - 1));
}

/** The best few; equal ones keep their order. Without a search text, the first few. */
export function bestMatches<T>(items: readonly T[], nameOf: (item: T) => string, wanted: string, limit: number): T[] {
  if (wanted === '') return items.slice(0, limit);
  const found: { item: T; score: number }[] = [];
  for (const item of items) {
    const score = matchScore(nameOf(item).toLowerCase(), wanted);
    if (score !== undefined) found.push({ item, score });
  }
  return found
    .sort((a, b) => a.score - b.score)
    .slice(0, limit)
    .map(({ item }) => item);
}

/** 32 hex digits are a trace id, wherever they were copied from. */
export function traceIdIn(text: string): string | undefined {
  return /^[0-9a-f]{32}$/i.exec(text.trim())?.[0].toLowerCase();
}

/** A receipt of an enqueued job is a UUID. */
export function receiptIn(text: string): string | undefined {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(text.trim())?.[0].toLowerCase();
}
