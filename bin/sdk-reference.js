// The reference of the SDK, from the doc comments of what `svc-sdk` exports, read from its built declarations. `npm run
// docs` writes docs/sdk.md; run by itself it prints the page, which a test compares.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const entry = join(import.meta.dirname, '../src/sdk/dist/sdk/index.d.ts');

const INTRODUCTION = `# SDK reference

Everything that \`svc-sdk\` exports, made from its doc comments by \`npm run docs\`; do not edit. \`svc-browser-sdk\` has the
same interface; [browser.md](browser.md) says what differs. Every example is compiled by a test.
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
    .map((symbol) => ({ name: symbol.name, symbol: resolved(symbol, checker) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return `${[INTRODUCTION, ...exported.map((one) => section(one, checker))].join('\n')}`;
}

function resolved(symbol, checker) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function section({ name, symbol }, checker) {
  const declarations = [...new Set((symbol.declarations ?? []).map(declarationText))];
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  const examples = symbol
    .getJsDocTags(checker)
    .filter((tag) => tag.name === 'example')
    .map((tag) => `\n\`\`\`ts\n${ts.displayPartsToString(tag.text).trim()}\n\`\`\`\n`);
  return `## ${name}\n\n${text}\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\`\n${examples.join('')}`;
}

/** As users may write it: without what only the class itself sees. */
function declarationText(declaration) {
  const whole = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return whole
    .getText()
    .replace(/^export (declare )?/, '')
    .split('\n')
    .filter((line) => !/^\s*(#private;|private )/.test(line))
    .join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(sdkReference());
