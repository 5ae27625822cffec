// The query box of the logs (LOG-4): the typed text as terms that can be shown as chips, switched off and joined again.

import { type QueryTerm, readTerms } from '../../../../../core/telemetry/logs/query-terms.ts';

export type TermKind = QueryTerm['kind'];

export interface LogTerm {
  /** As typed, without the leading `-`. */
  readonly text: string;
  readonly kind: TermKind;
  readonly isNot: boolean;
  /** What is wrong with it, for the user. Such a term is not sent. */
  readonly problem?: string;
}

export function parseLogQuery(query: string): LogTerm[] {
  return [...readTerms(query)].map((term) => {
    const problem = term.problem?.text ?? incompleteness(term);
    const { kind, isNot, start, end } = term;
    return { text: query.slice(start, end), kind, isNot, ...(problem !== undefined && { problem }) };
  });
}

/** The engine would accept it, but the user is still typing. */
function incompleteness(term: QueryTerm): string | undefined {
  if (term.kind === 'regex') return term.source === '' ? 'the expression is empty' : undefined;
  const isMissing = term.kind === 'field' && term.value === '' && !term.field.startsWith('attr.');
  return isMissing ? 'the value is missing' : undefined;
}

/** The text for the server: terms without a problem, except those switched off (by position). */
export function printLogQuery(terms: readonly LogTerm[], isOff: (index: number) => boolean = () => false): string {
  return terms
    .filter((term, index) => term.problem === undefined && !isOff(index))
    .map(termText)
    .join(' ');
}

export function termText(term: Pick<LogTerm, 'text' | 'isNot'>): string {
  return term.isNot ? `-${term.text}` : term.text;
}

/** The words to mark in the messages: plain search words that are not excluded. */
export function wordsToMark(terms: readonly LogTerm[]): string[] {
  return terms
    .filter((term) => !term.isNot && (term.kind === 'word' || term.kind === 'phrase'))
    .map((term) => (term.kind === 'phrase' ? unquote(term.text) : term.text))
    .filter((word) => word !== '');
}

/** Quotes a text as one term of the box where it would be read as something else. */
export function quoteTerm(text: string): string {
  const [term, ...more] = parseLogQuery(text);
  const isPlain = term?.kind === 'word' && !term.isNot && term.text === text && more.length === 0;
  return isPlain ? text : quoted(text);
}

/** A value after `attr.key=` or `service:`. */
export function quoteValue(value: string): string {
  return /^[^\s"]+$/.test(value) ? value : quoted(value);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (sign) => `\\${sign}`)}"`;
}

function unquote(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text;
}
