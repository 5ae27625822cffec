// The examples of what only `svc-browser-sdk` has are compiled as a page would: against its door, with nothing of Node.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../src/browser-sdk');
const DOOR = join(FOLDER, 'index.ts');
const CONFIG = ts.readConfigFile(join(FOLDER, 'tsconfig.json'), ts.sys.readFile).config;
// What only a build that writes files has.
const {
  tsBuildInfoFile: _file,
  incremental: _kept,
  ...options
} = ts.parseJsonConfigFileContent(CONFIG, ts.sys, FOLDER).options;

test('[SDK-13] [SDK-15] Every example of the browser SDK compiles, and its sources without Node', {
  timeout: 120_000,
}, () => {
  const examples = new Map(
    ['index.ts', 'options.ts'].map((name) => [join(FOLDER, `example-${name}`), exampleIn(join(FOLDER, name))]),
  );
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => examples.get(name) ?? readFile(name);
  host.fileExists = (name) => examples.has(name) || fileExists(name);
  const program = ts.createProgram(
    [DOOR, ...examples.keys()],
    { ...options, noEmit: true, paths: { 'svc-browser-sdk': [DOOR] } },
    host,
  );
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(problems).toEqual([]);
});

/** The code behind the first `@example` of a file. */
function exampleIn(file: string): string {
  const comment = /@example\n([\s\S]*?)\*\//.exec(readFileSync(file, 'utf8'))?.[1];
  if (comment === undefined) throw new Error(`${file} has no example`);
  return comment.replace(/^ \* ?/gm, '');
}
