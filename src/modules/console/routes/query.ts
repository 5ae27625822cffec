// Query parameters as the values that routes declare. Those that are numbers or flags are converted, by name.

/** Parameters that are numbers, wherever they occur. */
const NUMBERS: ReadonlySet<string> = new Set([
  'limit',
  'start_time',
  'end_time',
  'max_depth',
  'aggregate_interval',
  'level',
  'attempts_min',
  'older_than_ms',
]);
const FLAGS: ReadonlySet<string> = new Set(['internal', 'recent', 'system']);

/** The last of several values counts. A value that cannot be converted stays text, and is refused as such. */
export function readQuery(query: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, text] of new URLSearchParams(query)) values[name] = typed(name, text);
  return values;
}

function typed(name: string, text: string): unknown {
  if (NUMBERS.has(name) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (FLAGS.has(name) && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
