// YAML text → syntax tree, with everything refused that makes YAML dangerous or ambiguous (X21).
//
// The lexer is driven by hand, one token at a time, because the library's own entry points recurse to the end of the
// stack and catch the error there. That is not safe: 4000 bytes of `- - - -` ended the process, because V8 aborts when
// it must compile a regular expression on an exhausted stack. Here
//  1. anchors, aliases, tags and directives stop the work at their first token, so nothing is ever expanded;
//  2. nesting beyond the limit stops it at the token that goes too deep, so the composer's recursion is bounded;
//  3. duplicate keys are left to `plain-tree.ts`, because the library compares each key with all others.

import { Composer, CST, Lexer, type LineCounter, type ParsedNode, Parser } from 'yaml';

export const NESTING_MAX = 64;

export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

export type ComposedYaml =
  | { readonly ok: true; readonly root: ParsedNode | null }
  | { readonly ok: false; readonly problem: SyntaxProblem };

/** `lines` receives the beginnings of lines, as far as the text was read. */
export function composeYaml(text: string, lines: LineCounter): ComposedYaml {
  const tokens = readTokens(text, lines);
  if (!Array.isArray(tokens)) return { ok: false, problem: tokens };
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const [document] = composer.compose(tokens, true, text.length);
  // Later errors are mostly consequences of the first one.
  const [error] = document?.errors ?? [];
  if (error !== undefined) {
    const message = error.code === 'NON_STRING_KEY' ? 'A key must be text.' : sentence(error.message);
    return { ok: false, problem: { offset: error.pos[0], message } };
  }
  return { ok: true, root: document?.contents ?? null };
}

/** The tokens of one document, or the first reason to stop. */
function readTokens(text: string, lines: LineCounter): CST.Token[] | SyntaxProblem {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let isScalarNext = false;
  let documents = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    const type: CST.TokenType | null = isScalarNext ? null : CST.tokenType(lexeme);
    isScalarNext = type === 'scalar';
    const refusal = type === null ? undefined : REFUSED_TOKENS.get(type);
    const { offset } = parser;
    if (refusal !== undefined) return { offset, message: refusal };
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') return unexpectedToken(token);
      if (token.type === 'document') documents += 1;
      if (documents > 1) return { offset: token.offset, message: ONE_DOCUMENT };
      tokens.push(token);
    }
    if (nestingOf(parser) > NESTING_MAX) return { offset, message: TOO_DEEP };
  }
  for (const token of parser.end()) {
    if (token.type === 'document' && documents > 0) return { offset: token.offset, message: ONE_DOCUMENT };
    tokens.push(token);
  }
  return tokens;
}

/** The parser's stack holds the document, the open collections, and at the top perhaps an unfinished scalar. */
function nestingOf({ stack }: Parser): number {
  const top = stack.at(-1)?.type;
  const isInScalar = top !== 'block-map' && top !== 'block-seq' && top !== 'flow-collection';
  return stack.length - (isInScalar ? 2 : 1);
}

export const TOO_DEEP = `Nested deeper than ${NESTING_MAX} levels.`;

const ONE_DOCUMENT = "A second document begins here. The file must hold one: remove the line '---' or '...'.";

const NO_ALIASES = 'Anchors (&) and aliases (*) are not allowed here. If it is meant as text, put it in quotes.';

const REFUSED_TOKENS: ReadonlyMap<string, string> = new Map([
  ['anchor', NO_ALIASES],
  ['alias', NO_ALIASES],
  ['tag', 'Tags (!) are not allowed here. If it is meant as text, put it in quotes.'],
  ['directive-line', 'Directives (%) are not allowed here.'],
]);

/** The library's own text would show what it found, which may be a secret. Punctuation is not. */
function unexpectedToken({ offset, source }: CST.ErrorToken): SyntaxProblem {
  const found = /^[[\]{},:?-]{1,3}$/.test(source) ? `'${source}'` : 'text';
  return { offset, message: `Unexpected ${found}. Check the indentation, quotes and brackets before it.` };
}

/** Some messages end with a piece of the source after a colon. It may be a secret, and the place already shows it. */
function sentence(message: string): string {
  return `${message.replace(/(?<=\w): .*$/s, '')}.`;
}
