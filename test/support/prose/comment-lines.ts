import ts from 'typescript';

/** The lines of all comments of a source file. */
export function commentLinesOf(file: string, text: string): string[] {
  const variant = file.endsWith('x') ? ts.LanguageVariant.JSX : ts.LanguageVariant.Standard;
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, variant, text);
  const lines: string[] = [];
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan()) {
    if (token === ts.SyntaxKind.SingleLineCommentTrivia || token === ts.SyntaxKind.MultiLineCommentTrivia) {
      lines.push(...scanner.getTokenText().split('\n'));
    }
  }
  return lines;
}
