// The depth of a chain of calls (I8). It travels in the W3C baggage header as `svc.depth`, which SDKs carry from a
// handler to the calls it makes; every hand-over to a worker adds one.

const KEY = 'svc.depth=';
/** The entry that names the function about to run. */
export const FUNCTION_ENTRY = 'svc.function.id';

/** The depth a caller reports; absent or unreadable counts as the start of a chain. */
export function depthOf(baggage: string | undefined): number {
  if (baggage === undefined) return 0;
  const start = findKey(baggage, KEY);
  if (start < 0) return 0;
  const depth = Number.parseInt(baggage.slice(start + KEY.length), 10);
  return depth >= 0 ? depth : 0;
}

/** The baggage with its depth entry set, all other entries as they were. */
export function withDepth(baggage: string | undefined, depth: number): string {
  return setEntry(baggage ?? '', KEY, KEY + depth);
}

/** The baggage with one entry set: the name of the function that is about to run, for observers on the way. */
export function withBaggageEntry(baggage: string, name: string, value: string): string {
  return setEntry(baggage, `${name}=`, `${name}=${encodeURIComponent(value)}`);
}

function setEntry(baggage: string, key: string, entry: string): string {
  if (baggage === '') return entry;
  const start = findKey(baggage, key);
  if (start < 0) return `${baggage},${entry}`;
  const end = baggage.indexOf(',', start);
  return baggage.slice(0, start) + entry + (end < 0 ? '' : baggage.slice(end));
}

/** Where the entry begins: at the start of the header or after a comma and spaces, not inside another entry. */
function findKey(baggage: string, key: string): number {
  for (let at = baggage.indexOf(key); at >= 0; at = baggage.indexOf(key, at + 1)) {
    let before = at - 1;
    while (before >= 0 && baggage[before] === ' ') before--;
    if (before < 0 || baggage[before] === ',') return at;
  }
  return -1;
}
