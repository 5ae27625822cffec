// W3C trace context and baggage as the engine parses them. Parts of a trace context are read in place, without an
// allocation.

/**
 * Replaces the context of a trace that was just decided not to be kept and has no id: creating one for each call costs
 * more than the rest of its way. Only for a worker whose wire form can express it.
 */
export const UNTRACED = 'untraced';

/** `00-<32>-<16>-<2>`; a later version may have further fields after these. */
const LENGTH_MIN = 55;

/** Whether a header can be a parent: absent and malformed ones start a new trace. */
export function isTraceparent(header: string | undefined): header is string {
  if (header === undefined || header.length < LENGTH_MIN || header.length > 512) return false;
  if (header.charCodeAt(2) !== DASH || header.charCodeAt(35) !== DASH || header.charCodeAt(52) !== DASH) return false;
  if (header.startsWith('ff') || (header.length > LENGTH_MIN && header.charCodeAt(LENGTH_MIN) !== DASH)) return false;
  let digits = 0;
  for (let at = 0; at < LENGTH_MIN; at++) digits += IS_LOWER_HEX[header.charCodeAt(at)] ?? 0;
  if (digits !== LENGTH_MIN - DASHES) return false;
  return !header.startsWith(NO_TRACE, 3) && !header.startsWith(NO_SPAN, 36);
}

/** Only for a header that passes `isTraceparent`. */
export function traceIdOf(header: string): string {
  return header.slice(3, 35);
}

/** Only for a header that passes `isTraceparent`. */
export function spanIdOf(header: string): string {
  return header.slice(36, 52);
}

/** Whether the sender of the header keeps the trace. Only for a header that passes `isTraceparent`. */
export function isSampled(header: string): boolean {
  const low = header.charCodeAt(54);
  // The lowest bit of a hexadecimal digit is that of its character, and for letters the opposite.
  return low >= LETTER_A ? (low & 1) === 0 : (low & 1) === 1;
}

/** One for each hexadecimal character: a table lookup costs less than four comparisons. */
const IS_LOWER_HEX = Uint8Array.from({ length: 128 }, (_, code) =>
  /[0-9a-f]/.test(String.fromCharCode(code)) ? 1 : 0,
);
const DASHES = 3;
const DASH = 0x2d;
const LETTER_A = 0x61;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** In the baggage of a job's call: what is logged below it is found by the job's receipt. */
export const JOB_ENTRY = 'svc.job.id';

/** The engine's own entries mean nothing to users. */
const OWN_ENTRIES: ReadonlySet<string> = new Set(['svc.depth', 'svc.function.id', 'iii.function.id', JOB_ENTRY]);
const ENTRIES_MAX = 64;

/** In order, decoded; properties after `;` are dropped. */
export function baggageEntries(header: string | undefined): (readonly [key: string, value: string])[] {
  return allEntries(header).filter(([key]) => !OWN_ENTRIES.has(key));
}

/** The function that was running, from the engine's entry in the baggage of its call. */
export function functionIdIn(header: string | undefined): string | undefined {
  return allEntries(header).find(([key]) => key === 'svc.function.id' || key === 'iii.function.id')?.[1];
}

/** The receipt of the job that is running, or that made this call. */
export function jobIdIn(header: string | undefined): string | undefined {
  return allEntries(header).find(([key]) => key === JOB_ENTRY)?.[1];
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
