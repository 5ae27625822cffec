// The pages of docs/: the first page leads to each of them, every link has a target, and the code of the guides compiles.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../docs');
const SDK = join(FOLDER, '../src/sdk');
const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
const pages = all.filter((name) => !name.includes('/') || name.startsWith('sdk/'));
const guides = all.filter((name) => name.startsWith('sdk/'));
const CODE = /^```[\s\S]*?^```$/gm;
const LINK = /\]\(([^)#]+)(?:#[^)]*)?\)/g;
const textOf = (page: string) => readFileSync(join(FOLDER, page), 'utf8');
const linksOf = (page: string) => [...textOf(page).replace(CODE, '').matchAll(LINK)].map(([, target = '']) => target);

test('docs/README.md leads to every page', () => {
  expect([...linksOf('README.md'), 'README.md']).toEqual(expect.arrayContaining(pages));
});

test.each(all)('every file that docs/%s links to is there', (page) => {
  const own = linksOf(page).filter((target) => !/^[a-z]+:/.test(target));
  expect(own.filter((target) => !existsSync(join(FOLDER, dirname(page), target)))).toEqual([]);
});

test.each(guides)('docs/%s opens with code', (page) => {
  expect(textOf(page).split('\n').slice(0, 3).join('\n')).toMatch(/^# .+\n\n```ts$/);
});

test('the code of the guides compiles against svc-sdk', () => {
  const files = new Map(
    guides.flatMap((page) =>
      [...textOf(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ''], index) => {
        // A guide may use a schema library, which this repository does not.
        const own = code.replace("import * as z from 'zod';", 'declare const z: any;');
        return [join(SDK, 'examples', `${page.replace('/', '-')}-${index}.mts`), `${own}\nexport {};\n`] as const;
      }),
    ),
  );
  expect(files.size).toBeGreaterThan(8);
  expect(problemsOf(files)).toEqual([]);
});

function problemsOf(files: ReadonlyMap<string, string>): string[] {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(SDK, '../../tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    join(SDK, '../..'),
  );
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  const paths = { 'svc-sdk': [join(SDK, 'index.ts')] };
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  const program = ts.createProgram([...files.keys()], { ...options, paths, ...unused }, host);
  return [...files.keys()].flatMap((name) => {
    const source = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
  });
}
