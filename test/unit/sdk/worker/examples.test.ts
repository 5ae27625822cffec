// [SDK-15] The examples in the doc comments are compiled as in a user's program, against `svc-sdk`.
// This reads the sources, like the tests of the repository itself.

import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const SDK = join(import.meta.dirname, '../../../../src/sdk');
const DOOR = join(SDK, 'index.ts');
const TESTING_DOOR = join(SDK, 'testing.ts');
const LOGGING_DOOR = join(SDK, 'logging.ts');
/** Next to the SDK, so that packages are found as from anywhere else in the repository. */
const EXAMPLES = join(SDK, 'examples');

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(SDK, '../../tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  join(SDK, '../../..'),
);

/** Exported symbols, and the members of the object that users work with, by name. */
function listPublicSymbols(door: string): Map<string, ts.Symbol> {
  const program = ts.createProgram([door], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(door);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${door} was not compiled`);
  const symbols = new Map<string, ts.Symbol>();
  for (const exported of checker.getExportsOfModule(module)) {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
    symbols.set(exported.name, symbol);
    if (exported.name !== 'SvcWorker') continue;
    for (const member of checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))) {
      const isCallable = checker.getTypeOfSymbol(member).getCallSignatures().length > 0;
      if (isCallable) symbols.set(`SvcWorker.${member.name}`, member);
    }
  }
  return symbols;
}

function exampleOf(symbol: ts.Symbol): string {
  const tag = symbol.getJsDocTags().find(({ name }) => name === 'example');
  return ts.displayPartsToString(tag?.text);
}

const symbols = new Map([DOOR, TESTING_DOOR, LOGGING_DOOR].flatMap((door) => [...listPublicSymbols(door)]));

test('[SDK-15] every public symbol has a doc comment with an example', () => {
  expect(symbols.size).toBeGreaterThan(50);
  const without = [...symbols].filter(
    ([, symbol]) =>
      exampleOf(symbol) === '' || ts.displayPartsToString(symbol.getDocumentationComment(undefined)) === '',
  );
  expect(without.map(([name]) => name)).toEqual([]);
});

test('[SDK-15] every example compiles as a file of its own against the public entry point', () => {
  const files = new Map([...symbols].map(([name, symbol]) => [join(EXAMPLES, `${name}.mts`), exampleOf(symbol)]));
  expect(compile(files)).toEqual([]);
});

test('[SDK-15] an outdated example is noticed', () => {
  const stale = "import { registerWorker } from 'svc-sdk';\nregisterWorker().registerFuncton('a', () => 1);\n";
  expect(compile(new Map([[join(EXAMPLES, 'stale.mts'), stale]]))).toEqual([
    expect.stringContaining("stale.mts: Property 'registerFuncton' does not exist"),
  ]);
});

/** The errors of the compiler for these files, one line each. */
function compile(files: ReadonlyMap<string, string>): string[] {
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  const program = ts.createProgram(
    [...files.keys()],
    {
      ...options,
      paths: { 'svc-sdk': [DOOR], 'svc-sdk/testing': [TESTING_DOOR], 'svc-sdk/logging': [LOGGING_DOOR] },
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    host,
  );
  return [...files.keys()].flatMap((name) => {
    const source = program.getSourceFile(name);
    if (source === undefined) return [`${name} was not compiled`];
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${name.slice(EXAMPLES.length + 1)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
  });
}
