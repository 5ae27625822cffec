// The figures of `npm run bench` as they are kept: `results.json` holds the tables of each part and a line for each run
// before, and RESULTS.md shows the same between two marks, with text of people around it. Pure.

import type { Part } from '../parts.ts';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface PartFigures {
  readonly date: string;
  readonly commit: string;
  readonly command: string;
  readonly seconds: number;
  readonly tables: readonly Table[];
  /** Lines outside of tables. */
  readonly notes: readonly string[];
  /** One line for each run before, newest first. */
  readonly history: readonly string[];
}

export interface Results {
  readonly parts: Readonly<Record<string, PartFigures>>;
}

const HISTORY_MAX = 8;

/** What a part printed, as tables and the lines between them. */
export function readOutput(markdown: string): Pick<PartFigures, 'tables' | 'notes'> {
  const tables: { columns: string[]; rows: string[][] }[] = [];
  const notes: string[] = [];
  let isInTable = false;
  for (const line of markdown.split('\n').map((one) => one.trim())) {
    if (!line.startsWith('|')) {
      isInTable = false;
      if (line !== '') notes.push(line);
    } else if (!isInTable) {
      tables.push({ columns: cellsOf(line), rows: [] });
      isInTable = true;
    } else if (!/^\|[-| ]+\|$/.test(line)) {
      tables.at(-1)?.rows.push(cellsOf(line));
    }
  }
  return { tables, notes };
}

/** New figures of a part; those before become a line of history. */
export function withFigures(results: Results, part: Part, figures: Omit<PartFigures, 'history'>): Results {
  const before = results.parts[part.name];
  const line = before && headlineOf(part, before);
  const history = [...(line === undefined ? [] : [line]), ...(before?.history ?? [])].slice(0, HISTORY_MAX);
  return { parts: { ...results.parts, [part.name]: { ...figures, history } } };
}

/** `2026-11-28 (0a01057): 1.03 of Fastify`. */
export function headlineOf({ headline }: Part, { date, commit, tables }: PartFigures): string | undefined {
  for (const { columns, rows } of tables) {
    const column = columns.indexOf(headline.column);
    const row = rows.find((cells) => cells.join(' | ').startsWith(headline.row));
    const cell = row?.[column];
    if (cell !== undefined && cell !== '') return `${date} (${commit}): ${cell} ${headline.says}`;
  }
  return undefined;
}

/** The page with the figures of all parts in place. A part that it does not show yet comes last. */
export function showResults(page: string, parts: readonly Part[], results: Results): string {
  let shown = page.trimEnd();
  for (const part of parts) {
    const figures = results.parts[part.name];
    if (figures === undefined) continue;
    const block = blockOf(part, figures);
    const [begin, end] = marksOf(part);
    const [from, to] = [shown.indexOf(begin), shown.indexOf(end)];
    if (from < 0 || to < from) shown += `\n\n## ${part.title}\n\n${block}`;
    else shown = shown.slice(0, from) + block + shown.slice(to + end.length);
  }
  return `${shown}\n`;
}

function marksOf({ name }: Part): [string, string] {
  return [`<!-- figures of ${name} -->`, `<!-- end of ${name} -->`];
}

function blockOf(part: Part, { date, commit, command, tables, notes, history }: PartFigures): string {
  const [begin, end] = marksOf(part);
  const pieces = [
    begin,
    `\`${command}\`, ${date}, commit ${commit}.`,
    ...tables.map(({ columns, rows }) =>
      [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
    ),
    ...(notes.length === 0 ? [] : [notes.map((note) => `- ${note}`).join('\n')]),
    ...(history.length === 0 ? [] : [`Before: ${history.join('; ')}.`]),
    end,
  ];
  return pieces.join('\n\n');
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}
