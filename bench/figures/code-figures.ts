// `node bench/figures/code-figures.ts [checkout]`: figures for the shape of the code: sizes of files and folders,
// circles of imports, and words that docs/contributing/style.md bans, per thousand lines of comment.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import ts from 'typescript';
import { bannedWords } from '../../test/support/prose/banned-words.ts';
import { commentLinesOf } from '../../test/support/prose/comment-lines.ts';

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '../..'));
const files = [...list('src'), ...list('workers')].filter((file) => !file.startsWith('src/generated/'));
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

const lengths = [...texts.values()].map((text) => text.split('\n').length).sort((a, b) => a - b);
const folders = new Map<string, number>();
for (const file of files) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
const [largestFolder, largestCount] = [...folders].sort(([, a], [, b]) => b - a)[0] ?? ['', 0];
const circles = circlesOf(new Map(files.map((file) => [file, importsOf(file)])));
const prose = [...texts].map(([file, text]) => ({ file, comments: commentLinesOf(file, text) }));
const commentLines = prose.reduce((sum, { comments }) => sum + comments.length, 0);
const banned = prose.reduce(
  (sum, { comments }) => sum + comments.reduce((count, line) => count + bannedWords(line).length, 0),
  0,
);

const rows: readonly (readonly [string, string | number | undefined])[] = [
  ['files', files.length],
  ['lines', lengths.reduce((sum, length) => sum + length, 0)],
  ['median lines of a file', lengths[Math.floor(lengths.length / 2)]],
  ['90 % of the files have up to', lengths[Math.floor(lengths.length * 0.9)]],
  ['largest file', lengths.at(-1)],
  ['files of 30 lines or fewer', lengths.filter((length) => length <= 30).length],
  ['largest folder', `${largestCount} (${largestFolder})`],
  ['folders above 25 files', [...folders.values()].filter((count) => count > 25).length],
  ['circles of imports', `${circles.length} (largest ${Math.max(0, ...circles.map(({ length }) => length))} files)`],
  ['lines of comment', commentLines],
  ['banned words per thousand of them', ((banned / commentLines) * 1000).toFixed(1)],
];
for (const [name, value] of rows) process.stdout.write(`${name.padEnd(36)} ${value}\n`);
if (process.argv.includes('--circles')) for (const circle of circles) process.stdout.write(`${circle.join('\n  ')}\n`);

function list(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((name) => /\.tsx?$/.test(name) && !/\/(node_modules|dist|templates)\//.test(name));
}

/** The files that it imports for values or types, without those it loads on demand. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(texts.get(file) ?? '', true, true);
  const lazy = new Set([...(texts.get(file) ?? '').matchAll(/\bimport\('([^']+)'\)/g)].map((match) => match[1]));
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.') && !lazy.has(name))
    .map((name) => normalize(join(dirname(file), name)))
    .filter((name) => texts.has(name));
}

/** Strongly connected sets of more than one file (Tarjan). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const lowOf = (file: string): number => low.get(file) ?? 0;
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.size - 1);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(lowOf(file), lowOf(next)));
    }
    if (lowOf(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle);
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found.sort((a, b) => b.length - a.length);
}
