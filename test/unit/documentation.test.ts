// The pages of docs/: the first page leads to each of them, and every link has a target.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../docs');
const pages = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
const CODE = /^```[\s\S]*?^```$/gm;
const LINK = /\]\(([^)#]+)(?:#[^)]*)?\)/g;
const linksOf = (page: string) =>
  [...readFileSync(join(FOLDER, page), 'utf8').replace(CODE, '').matchAll(LINK)].map(([, target = '']) => target);

test('docs/README.md leads to every page', () => {
  expect([...linksOf('README.md'), 'README.md']).toEqual(expect.arrayContaining(pages));
});

test.each(pages)('every file that docs/%s links to is there', (page) => {
  const own = linksOf(page).filter((target) => !/^[a-z]+:/.test(target));
  expect(own.filter((target) => !existsSync(join(FOLDER, target)))).toEqual([]);
});
