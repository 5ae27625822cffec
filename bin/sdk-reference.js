// The reference of the SDK, from the doc comments of the exports of `svc-sdk` in its built declarations. `npm run docs`
// writes docs/sdk.md; run directly, this file prints the page, and a test compares it.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const entry = join(import.meta.dirname, '../src/sdk/dist/sdk/index.d.ts');

const INTRODUCTION = `# SDK reference

Everything that \`svc-sdk\` exports, made from its doc comments by \`npm run docs\`; do not edit. \`svc-browser-sdk\` has the
same interface; [browser.md](browser.md) says what differs. Every example is compiled by a test. The guides explain it by
task: [functions](sdk/functions.md), [types](sdk/types.md), [calling](sdk/calling.md), [errors](sdk/errors.md),
[logging](sdk/logging.md). A program calls [registerWorker](#registerworker) and gets an [SvcWorker](#svcworker); its
functions get a payload and a [HandlerContext](#handlercontext). \`svc-sdk/testing\` is described in [testing.md](testing.md), \`svc-sdk/logging\` in
[tracing.md](observability/tracing.md).
`;

export function sdkReference() {
  const program = ts.createProgram([entry], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ['node'],
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const door = checker.getSymbolAtLocation(program.getSourceFile(entry));
  const exported = checker
    .getExportsOfModule(door)
    .map((symbol) => ({ name: symbol.name, symbol: resolved(symbol, checker), isType: isExportedAsType(symbol) }))
    .sort((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1));
  return `${[INTRODUCTION, contents(exported), ...exported.map((one) => section(one, checker))].join('\n')}`;
}

/** Exports that are values, and exports that are only types. */
function contents(exported) {
  const isValue = ({ symbol, isType }) => !isType && (symbol.flags & ts.SymbolFlags.Value) !== 0;
  const links = (some) => some.map(({ name }) => `[${name}](#${name.toLowerCase()})`).join(', ');
  const types = exported.filter((one) => !isValue(one));
  return `Functions, classes and values: ${links(exported.filter(isValue))}.\n\nTypes: ${links(types)}.\n`;
}

function resolved(symbol, checker) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function isExportedAsType(symbol) {
  return (symbol.declarations ?? []).some((one) => ts.isExportSpecifier(one) && one.parent.parent.isTypeOnly);
}

function section({ name, symbol, isType }, checker) {
  // A class that is exported only as a type has no usable constructor.
  const hidden = isType ? /^\s*(#private;|private |constructor\()/ : /^\s*(#private;|private )/;
  const declarations = [...new Set((symbol.declarations ?? []).map((one) => declarationText(one, hidden)))];
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  const examples = symbol
    .getJsDocTags(checker)
    .filter((tag) => tag.name === 'example')
    .map((tag) => `\n\`\`\`ts\n${ts.displayPartsToString(tag.text).trim()}\n\`\`\`\n`);
  return `## ${name}\n\n${text}\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\`\n${examples.join('')}`;
}

/** Without private members. */
function declarationText(declaration, hidden) {
  const whole = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return whole
    .getText()
    .replace(/^export (declare )?/, '')
    .split('\n')
    .filter((line) => !hidden.test(line))
    .join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(sdkReference());
