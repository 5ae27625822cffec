// The entries of a W3C baggage header that users put there.

/** The engine's own entries mean nothing to users. */
const OWN_ENTRIES: ReadonlySet<string> = new Set(['svc.depth', 'svc.function.id', 'iii.function.id']);
const ENTRIES_MAX = 64;

/** In order, decoded; properties after `;` are dropped. */
export function baggageEntries(header: string | undefined): (readonly [key: string, value: string])[] {
  return allEntries(header).filter(([key]) => !OWN_ENTRIES.has(key));
}

/** The function that was running, from the engine's entry in the baggage of its call. */
export function functionIdIn(header: string | undefined): string | undefined {
  return allEntries(header).find(([key]) => key === 'svc.function.id' || key === 'iii.function.id')?.[1];
}

function allEntries(header: string | undefined): (readonly [string, string])[] {
  if (header === undefined || header === '') return [];
  return header.split(',', ENTRIES_MAX).flatMap((member) => {
    const [entry = ''] = member.split(';', 1);
    const equals = entry.indexOf('=');
    const key = entry.slice(0, Math.max(equals, 0)).trim();
    return key === '' ? [] : [[key, decoded(entry.slice(equals + 1).trim())] as const];
  });
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A stray percent sign is literal text.
    return value;
  }
}
