// Comments, documentation and texts for users are written as docs/contributing/style.md asks. The list of words that it
// bans is in `support/prose/banned-words.ts`.

import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bannedWords } from './support/prose/banned-words.ts';
import { commentLinesOf } from './support/prose/comment-lines.ts';

const ROOT = join(import.meta.dirname, '..');
/** It shows the words that it bans. */
const STYLE = 'docs/contributing/style.md';

describe('plain English', () => {
  test.each(['src', 'workers', 'bench', 'native-bench', 'test'])('the comments of %s use no banned word', (folder) => {
    const offences = files(folder, /\.tsx?$/).flatMap((file) => {
      const text = read(file);
      return [...commentLinesOf(file, text), ...scriptCommentsOf(text)].flatMap((line) => offencesIn(file, line));
    });
    expect(offences).toEqual([]);
  });

  test('the titles of tests use no banned word', () => {
    const offences = files('test', /\.tsx?$/).flatMap((file) =>
      titlesOf(read(file)).flatMap((title) => offencesIn(file, title)),
    );
    expect(offences).toEqual([]);
  });

  test('templates and style sheets use no banned word', () => {
    const offences = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .map((name) => `src/${name.split(sep).join('/')}`)
      .filter((name) => /\.css$|\/templates\/.*\.(?:tsx?|js|py|md|ya?ml)$/.test(name) && !name.includes('node_modules'))
      .flatMap((file) =>
        read(file)
          .split('\n')
          .flatMap((line) => offencesIn(file, line)),
      );
    expect(offences).toEqual([]);
  });

  test('documentation uses no banned word', () => {
    const pages = [...files('docs', /\.md$/), ...readdirSync(ROOT).filter((name) => name.endsWith('.md'))];
    const offences = pages
      .filter((file) => file !== STYLE)
      .flatMap((file) => proseOf(read(file)).flatMap((line) => offencesIn(file, line)));
    expect(offences).toEqual([]);
  });

  test('texts for users use no banned word', () => {
    const offences = ['src/cli', 'src/console', 'src/config', 'src/modules', 'src/router', 'src/sdk', 'src/protocol']
      .flatMap((folder) => files(folder, /\.tsx?$/))
      .flatMap((file) => sentencesOf(read(file)).flatMap((text) => offencesIn(file, text)));
    expect(offences).toEqual([]);
  });

  test('a planted word is found, and a correct use of it is not', () => {
    expect(bannedWords('Whoever started it is told, and looks after it anew.')).toEqual(['Whoever', 'told', 'anew']);
    expect(bannedWords('A server behind a proxy; a letter that stands for a word.')).toEqual([]);
    const source = "// He reads it.\nthrow new Error('The letter was read by nobody');\n";
    expect(commentLinesOf('planted.ts', source).flatMap(bannedWords)).toEqual(['He']);
    expect(sentencesOf(source).flatMap(bannedWords)).toEqual(['nobody']);
    const script =
      'const SCRIPT = `\n-- The key comes back.\nreturn 1`;\ntest.each([1])(\n  "a call goes on %d", run);\n';
    expect(scriptCommentsOf(script).flatMap(bannedWords)).toEqual(['comes back']);
    expect(titlesOf(script).flatMap(bannedWords)).toEqual(['goes on']);
  });
});

function offencesIn(file: string, text: string): string[] {
  return bannedWords(text).map((word) => `${file}: '${word}' in "${text.trim().slice(0, 120)}"`);
}

/** Texts in quotes that are words and not names: with a space between two letters. */
function sentencesOf(source: string): string[] {
  const code = source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
  return [...code.matchAll(/(['"`])((?:\\.|(?!\1)[^\n\\])*)\1/g)]
    .map((match) => match[2] ?? '')
    .filter((text) => /[a-z],? [a-z]/.test(text));
}

/** The comments of Lua scripts, which are templates of the source file. */
function scriptCommentsOf(source: string): string[] {
  return source.match(/^\s*-- .*$/gm) ?? [];
}

function titlesOf(source: string): string[] {
  const titles = /^\s*(?:test|it|describe)\b[^'"`\n]*?(?:\(\s*|\]\)\(\s*)(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm;
  return [...source.matchAll(titles)].map((match) => match[2] ?? '');
}

/** Without code. */
function proseOf(page: string): string[] {
  return page
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .split('\n');
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
