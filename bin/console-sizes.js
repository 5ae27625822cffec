// Prints the compressed sizes of the console's pages, and fails when one is over its budget. The build runs it after
// vite.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const folder = join(import.meta.dirname, '../src/console/dist/web');
const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8'));

/** In units of 1000 bytes, gzip. */
const BUDGET = { firstJs: 240, css: 25, total: 270, page: 60, editor: 150, flow: 95, all: 900 };

const sizes = new Map();
const weigh = (file) => {
  const known = sizes.get(file) ?? gzipSync(readFileSync(join(folder, file)), { level: 9 }).length / 1_000;
  sizes.set(file, known);
  return known;
};
const sum = (files) => [...files].reduce((total, file) => total + weigh(file), 0);

/** The files that a chunk needs, its own first, without those that are loaded already. */
function filesOf(key, known = new Set(), found = new Set()) {
  const chunk = manifest[key];
  if (chunk === undefined || known.has(chunk.file) || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const below of chunk.imports ?? []) filesOf(below, known, found);
  return found;
}

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
const shell = filesOf(entry);
const dashboard = Object.keys(manifest).find((key) => key.startsWith('pages/dashboard/index'));
const first = new Set([...shell, ...(dashboard === undefined ? [] : filesOf(dashboard))]);
const styles = new Set(Object.values(manifest).flatMap(({ css = [] }) => css));
const statics = ['index.html', 'theme.js'];
const everything = readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`);

const rows = [
  ['first load, scripts', sum(first), BUDGET.firstJs],
  ['first load, styles', sum(styles), BUDGET.css],
  ['first load, all', sum(first) + sum(styles) + sum(statics), BUDGET.total],
];
for (const key of Object.keys(manifest).sort()) {
  const budget = budgetOf(key);
  if (budget !== undefined && key !== dashboard) rows.push([key, sum(filesOf(key, shell)), budget]);
}
rows.push(['all files', sum(everything) + sum(statics), BUDGET.all]);

function budgetOf(key) {
  if (/code-mirror|code-diff/.test(key)) return BUDGET.editor;
  if (/flow\//.test(key)) return BUDGET.flow;
  return manifest[key].isDynamicEntry ? BUDGET.page : undefined;
}

process.stdout.write('Console, kB gzip, and its budget\n');
for (const [name, size, budget] of rows) {
  const mark = size > budget ? '  OVER' : '';
  process.stdout.write(`  ${name.padEnd(36)} ${size.toFixed(1).padStart(7)} ${String(budget).padStart(5)}${mark}\n`);
}
if (rows.some(([, size, budget]) => size > budget)) process.exitCode = 1;
