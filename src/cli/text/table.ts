// Rows as aligned columns, as tab-separated lines, and as CSV.

import { cut, displayWidth, padEnd, padStart, stripUnsafe } from './display-text.ts';

export interface Column<Row> {
  /** Field name in CSV and, in capitals, the heading of the table. */
  readonly name: string;
  /** For people. */
  text(row: Row): string;
  /** For CSV, if it differs: a raw number, an ISO time. */
  raw?(row: Row): string;
  readonly align?: 'left' | 'right';
  /** May be shortened when the table is too wide for the terminal; ids in the middle, prose at the end. */
  readonly cut?: 'end' | 'middle';
  /** Only shown by `-o wide`, and always in CSV. */
  readonly wideOnly?: boolean;
}

const GAP = '  ';
const CUT_COLUMNS_MIN = 12;

/** Lines of a table that fits into `columnsMax`, headed by the names; nothing is cut when it is undefined. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  columnsMax: number | undefined,
): string[] {
  const grid = [
    columns.map((column) => column.name.replaceAll('_', ' ').toUpperCase()),
    ...rows.map((row) => columns.map((column) => stripUnsafe(column.text(row)))),
  ];
  const widths = columns.map((_, index) =>
    grid.reduce((widest, cells) => Math.max(widest, displayWidth(cells[index] ?? '')), 0),
  );
  if (columnsMax !== undefined) shrink(columns, widths, columnsMax);
  return grid.map((cells) => formatLine(columns, cells, widths));
}

/** One line per row, tabs between the fields, no heading: for `cut`, `awk` and `while read`. */
export function formatTabbed<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  return rows.map((row) => columns.map((column) => stripUnsafe(column.text(row))).join('\t'));
}

/** RFC 4180 with a heading; values as they are, except that quotes are doubled. */
export function formatCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const heading = columns.map((column) => column.name).join(',');
  return [heading, ...rows.map((row) => columns.map((column) => quoteCsv(rawText(column, row))).join(','))];
}

function rawText<Row>(column: Column<Row>, row: Row): string {
  return column.raw === undefined ? column.text(row) : column.raw(row);
}

function quoteCsv(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Shortens cells until the line fits: prose first, ids only when that is not enough. */
function shrink<Row>(columns: readonly Column<Row>[], widths: number[], columnsMax: number): void {
  for (const where of ['end', 'middle'] as const) {
    const total = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
    const indexes = [...columns.keys()].filter((index) => columns[index]?.cut === where);
    takeAway(widths, indexes, total - columnsMax);
  }
}

/** Removes this many columns from the cells, each time from the widest one, down to a minimum width. */
function takeAway(widths: number[], indexes: readonly number[], excess: number): void {
  for (let left = excess; left > 0; left -= 1) {
    const widest = indexes.reduce((best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best), -1);
    const width = widths[widest] ?? 0;
    if (width <= CUT_COLUMNS_MIN) return;
    widths[widest] = width - 1;
  }
}

function formatLine<Row>(columns: readonly Column<Row>[], cells: readonly string[], widths: readonly number[]): string {
  const padded = columns.map((column, index) => {
    const width = widths[index] ?? 0;
    const text = cut(cells[index] ?? '', width, column.cut ?? 'end');
    return column.align === 'right' ? padStart(text, width) : padEnd(text, width);
  });
  return padded.join(GAP).trimEnd();
}
