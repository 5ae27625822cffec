// Every rule that code, tests and documentation cite is defined in docs/spec, and every rule that docs/spec promises has
// a test whose title carries its id.

import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commentLinesOf } from './support/prose/comment-lines.ts';

const ROOT = join(import.meta.dirname, '..');
const SPEC = 'docs/spec';

/** `Q1`, `CLI-12`, `PD-2a`. */
const RULE =
  /\b(?:(?:CLI|SDK|DSH|FUN|TRG|QUE|STA|STR|TRC|LOG|FLO|WRK|CFG|APP|KEY|LIV|EMP|ACC|JSN|API|PD)-\d{1,2}[ab]?|(?:I|V|Q|F|S|D|T|CR|CL|RO|H|O|W|R|G|K|L|X)\d{1,2})\b/g;
const SECTION = /\b(wire|modules|guarantees) (\d{1,2}(?:\.\d{1,2})?)\b/g;
const FAULT = /\bfaults? (\d{1,2})\b/gi;
/** A word that only looks like an id. */
const WORDS = new Set(['V8']);
/** In the header of a file: `//   T2  A type has at most one provider.` */
const LOCAL = /^\s*(?:\/\/|\*)\s{2,}([A-Z]{1,3}\d{1,2})\s/;

const pages = files(SPEC, /\.md$/).map((file) => ({ file, text: read(file) }));
const defined = new Set(
  pages.flatMap(({ text }) => [
    ...[...text.matchAll(/\*\*((?:[A-Z]{2,3}-\d{1,2}[ab]?)|(?:[A-Z]{1,2}\d{1,2}))\b[^*]*\*\*/g)].map(
      (match) => match[1] ?? '',
    ),
    ...[...text.matchAll(/^#{2,4} (PD-\d{1,2}[ab]?)\b/gm)].map((match) => match[1] ?? ''),
  ]),
);
const sections = new Map(
  [
    ['wire', /wire\.md$/],
    ['modules', /modules(\/[\w-]+)?\.md$/],
    ['guarantees', /guarantees\.md$/],
  ].map(([name, page]) => [
    String(name),
    new Set(
      pages
        .filter(({ file }) => (page as RegExp).test(file))
        .flatMap(({ text }) => [
          ...[...text.matchAll(/^#{1,4} (\d{1,2}(?:\.\d{1,2})?)\.? /gm)].map((match) => match[1] ?? ''),
          ...[...text.matchAll(/\*\*(\d{1,2}\.\d{1,2})\*\*/g)].map((match) => match[1] ?? ''),
        ]),
    ),
  ]),
);
const faults = new Set([...read(`${SPEC}/faults.md`).matchAll(/^#{2,4} Fault (\d{1,2})\b/gm)].map((match) => match[1]));

const code = [...files('src', /\.tsx?$/), ...files('workers', /\.ts$/), ...files('test', /\.tsx?$/)];
const prose = [...files('docs', /\.md$/), 'README.md', 'ARCHITECTURE.md', 'DECISIONS.md', 'CONTRIBUTING.md'];
const cited = [
  ...code.map((file) => ({ file, text: [...commentLinesOf(file, read(file)), ...titlesOf(file)].join('\n') })),
  ...prose.map((file) => ({ file, text: read(file) })),
];

describe('rules', () => {
  test('every id that is cited is defined in docs/spec', () => {
    const lost = cited.flatMap(({ file, text }) =>
      [...text.matchAll(RULE)]
        .filter(([id]) => !defined.has(id) && !WORDS.has(id))
        .map(([id]) => `${file} cites ${id}`),
    );
    expect(lost).toEqual([]);
  });

  test('every section and fault that is cited is there', () => {
    // What is not promised has no section.
    const lost = cited
      .filter(({ file }) => !file.endsWith('not-promised.md'))
      .flatMap(({ file, text }) => [
        ...[...text.matchAll(SECTION)]
          .filter(([, page = '', section = '']) => sections.get(page)?.has(section) !== true)
          .map(([citation]) => `${file} cites ${citation}`),
        ...[...text.matchAll(FAULT)]
          .filter(([, fault]) => !faults.has(fault))
          .map(([fault]) => `${file} cites ${fault}`),
      ]);
    expect(lost).toEqual([]);
  });

  test('every rule has a test whose title carries its id', () => {
    const titles = files('test', /\.tsx?$/)
      .flatMap(titlesOf)
      .join('\n');
    const shown = new Set([...titles.matchAll(RULE)].map(([id]) => id));
    // Choices that cut across pages are shown by the tests of those pages.
    expect([...defined].filter((id) => !id.startsWith('PD-') && !shown.has(id))).toEqual([]);
  });

  test('every fault has a test whose title names it', () => {
    const titles = files('test', /\.tsx?$/)
      .flatMap(titlesOf)
      .join('\n');
    const shown = new Set([...titles.matchAll(FAULT)].map(([, fault]) => fault));
    expect([...faults].filter((fault) => !shown.has(fault))).toEqual([]);
  });

  test('no file gives an id of docs/spec a second meaning', () => {
    const twice = code.flatMap((file) =>
      commentLinesOf(file, read(file))
        .map((line) => LOCAL.exec(line)?.[1] ?? '')
        .filter((id) => defined.has(id))
        .map((id) => `${file} defines ${id}`),
    );
    expect(twice).toEqual([]);
  });

  test('citations are of docs/spec and of DECISIONS.md', () => {
    const lost = cited.flatMap(({ file, text }) =>
      [...text.matchAll(/\b(?:decisions? \d+|product\.md|console-and-cli|toolchain\.md|wire-protocol\.md)/g)].map(
        ([citation]) => `${file} cites ${citation}`,
      ),
    );
    expect(lost).toEqual([]);
  });
});

/** Texts in quotes that begin as titles of tests do: `[Q1] [Q2] …`, `[W2, W3] …`, `[fault 14] …`. */
function titlesOf(file: string): string[] {
  if (!file.startsWith('test/')) return [];
  return [...read(file).matchAll(/(['"`])(\[(?:[A-Z]{1,3}-?\d|fault|guarantees|wire|modules)[^\n]*?)\1/g)].map(
    (match) => match[2] ?? '',
  );
}

function files(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.split(sep).join('/')}`)
    .filter((name) => ending.test(name) && !/\/(node_modules|dist|generated|templates)\//.test(name))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
