// The examples of functions that only `svc-browser-sdk` has are compiled as a page would: against its entry point, with
// nothing of Node.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../src/browser-sdk');
const DOOR = join(FOLDER, 'index.ts');
const REACT_DOOR = join(FOLDER, 'react.ts');
const CONFIG = ts.readConfigFile(join(FOLDER, 'tsconfig.json'), ts.sys.readFile).config;
// Options of a build that writes files.
const {
  tsBuildInfoFile: _file,
  incremental: _kept,
  ...options
} = ts.parseJsonConfigFileContent(CONFIG, ts.sys, FOLDER).options;

test('[SDK-13] [SDK-15] Every example of the browser SDK compiles, and its sources without Node', {
  timeout: 120_000,
}, () => {
  const hooks = readdirSync(join(FOLDER, 'react')).map((name) => `react/${name}`);
  const examples = new Map(
    ['index.ts', ...hooks].flatMap((name) =>
      examplesIn(join(FOLDER, name)).map((text, index) => [
        join(FOLDER, `example-${index}-${name.replace('/', '-')}`),
        text,
      ]),
    ),
  );
  // One for each export of react.ts, and one for each of the other two.
  expect(examples.size).toBe(14);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => examples.get(name) ?? readFile(name);
  host.fileExists = (name) => examples.has(name) || fileExists(name);
  const program = ts.createProgram(
    [DOOR, ...examples.keys()],
    { ...options, noEmit: true, paths: { 'svc-browser-sdk': [DOOR], 'svc-browser-sdk/react': [REACT_DOOR] } },
    host,
  );
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(problems).toEqual([]);
});

/** The code of each `@example` of a file. */
function examplesIn(file: string): string[] {
  const comments = [...readFileSync(file, 'utf8').matchAll(/@example\n([\s\S]*?)\*\//g)];
  return comments.map(([, text = '']) => text.replace(/^ \* ?/gm, ''));
}
