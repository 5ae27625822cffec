// Rows as files: JSON lines, or CSV as in RFC 4180 (APP-11).

export type Cell = string | number | boolean | null;

export function toCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

export function toJsonLines(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return rows
    .map((cells) => `${JSON.stringify(Object.fromEntries(names.map((name, at) => [name, cells[at] ?? null])))}\n`)
    .join('');
}

function csvCell(cell: Cell): string {
  const text = cell === null ? '' : String(cell);
  // A spreadsheet would run text that begins like a formula. A number is not a formula.
  const safe = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
