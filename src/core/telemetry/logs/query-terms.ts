// The language of the query box of logs (LOG-4), as terms: the engine turns them into conditions, and the page shows
// them as chips.
//
//   words  "a phrase"  -not  service:billing  severity>=warn  attr.key=value  /regex/
//
// Both read the same text in the same way. What the engine would refuse the page reports while it is typed.

import { LOG_LEVELS, type LogLevel } from '../records/records.ts';

export type QueryTerm = WordTerm | FieldTerm | RegexTerm;

interface TermPosition {
  /** In the query, without the leading `-`. */
  readonly start: number;
  readonly end: number;
  readonly isNot: boolean;
  /** Why it is refused. */
  readonly problem: TermProblem | undefined;
}

export interface TermProblem {
  readonly at: number;
  readonly text: string;
}

/** A text to search for. A phrase is quoted. */
export interface WordTerm extends TermPosition {
  readonly kind: 'word' | 'phrase';
  readonly text: string;
}

export interface FieldTerm extends TermPosition {
  readonly kind: 'field';
  /** One of `QUERY_FIELDS`, or `attr.` and a key. */
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

export interface RegexTerm extends TermPosition {
  readonly kind: 'regex';
  readonly source: string;
  readonly ignoresCase: boolean;
}

/** PD-48. */
export const REGEX_BYTES_MAX = 256;

const QUERY_FIELDS = [
  'service',
  'function',
  'worker',
  'job',
  'trace',
  'trace_id',
  'span',
  'span_id',
  'severity',
  'level',
];
const FIELD = /([A-Za-z_][^\s"=<>!:]*)(>=|<=|!=|=|>|<|:)/y;
const SPACE = /\s*/y;
const WORD = /\S*/y;

export function* readTerms(query: string): Generator<QueryTerm> {
  for (let at = endOf(SPACE, query, 0); at < query.length; ) {
    const isNot = query.charAt(at) === '-' && /\S/.test(query.charAt(at + 1));
    const term = readTerm(query, isNot ? at + 1 : at, isNot);
    yield term;
    at = endOf(SPACE, query, term.end);
  }
}

function readTerm(query: string, start: number, isNot: boolean): QueryTerm {
  const first = query.charAt(start);
  if (first === '/') return { ...readRegex(query, start), isNot };
  if (first === '"') {
    const { value: text, end, problem } = readQuoted(query, start);
    return { kind: 'phrase', text, start, end, isNot, problem };
  }
  FIELD.lastIndex = start;
  const [whole = '', name = '', operator = ''] = FIELD.exec(query) ?? [];
  const field = fieldOf(name);
  if (field !== undefined) {
    const { value, end, problem } = readValue(query, start + whole.length);
    const offence = problem === undefined ? fieldOffence(field, operator, value) : undefined;
    const refused = offence === undefined ? problem : { at: start, text: offence };
    return { kind: 'field', field, operator, value, start, end, isNot, problem: refused };
  }
  const end = endOf(WORD, query, start);
  return { kind: 'word', text: query.slice(start, end), start, end, isNot, problem: undefined };
}

/** Another name is part of a word. */
function fieldOf(name: string): string | undefined {
  if (name.startsWith('attr.') && name.length > 'attr.'.length) return name;
  const field = name.toLowerCase();
  return QUERY_FIELDS.includes(field) ? field : undefined;
}

interface ReadValue {
  readonly value: string;
  readonly end: number;
  readonly problem: TermProblem | undefined;
}

function readValue(query: string, start: number): ReadValue {
  if (query.charAt(start) === '"') return readQuoted(query, start);
  const end = endOf(WORD, query, start);
  return { value: query.slice(start, end), end, problem: undefined };
}

/** `\"` and `\\` stand for the characters themselves. */
function readQuoted(query: string, start: number): ReadValue {
  let value = '';
  for (let at = start + 1; at < query.length; at++) {
    if (query.charAt(at) === '"') return { value, end: at + 1, problem: undefined };
    if (query.charAt(at) === '\\' && /["\\]/.test(query.charAt(at + 1))) at++;
    value += query.charAt(at);
  }
  return { value, end: query.length, problem: { at: start, text: 'the quotation mark is not closed' } };
}

/** `\/` stands for the character itself; every other escape belongs to the expression. */
function readRegex(query: string, start: number): Omit<RegexTerm, 'isNot'> {
  let source = '';
  let at = start + 1;
  for (; at < query.length && query.charAt(at) !== '/'; at++) {
    if (query.charAt(at) === '\\' && query.charAt(at + 1) === '/') at++;
    else if (query.charAt(at) === '\\') source += query.charAt(at++);
    source += query.charAt(at);
  }
  const end = endOf(WORD, query, Math.min(at + 1, query.length));
  const flags = query.slice(at + 1, end);
  const offence = regexOffence(source, flags, at < query.length);
  const problem = offence === undefined ? undefined : { at: start, text: offence };
  return { kind: 'regex', source, ignoresCase: flags === 'i', start, end, problem };
}

function regexOffence(source: string, flags: string, isClosed: boolean): string | undefined {
  if (!isClosed) return "the regular expression has no closing '/'";
  if (flags !== '' && flags !== 'i') return `'${flags}' is not a flag; 'i' ignores case`;
  return regexLengthOffence(source);
}

export function regexLengthOffence(source: string): string | undefined {
  if (new TextEncoder().encode(source).length <= REGEX_BYTES_MAX) return undefined;
  return `the regular expression is over the limit of ${REGEX_BYTES_MAX} bytes`;
}

function fieldOffence(field: string, operator: string, value: string): string | undefined {
  if (field === 'severity' || field === 'level') {
    return severityOf(value) === undefined
      ? `'${value}' is not a severity: one of ${LOG_LEVELS.join(', ')}`
      : undefined;
  }
  if (operator === ':' || operator === '=' || operator === '!=') return undefined;
  if (!field.startsWith('attr.')) return `'${field}' takes ':', '=' or '!=', found '${operator}'`;
  return isNumber(value) ? undefined : `'${operator}' after '${field}' needs a number, found '${value}'`;
}

export function severityOf(word: string): LogLevel | undefined {
  const lower = word.toLowerCase();
  return LOG_LEVELS.find((level) => level === lower || (level === 'warn' && lower === 'warning'));
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text));
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text) === null ? at : pattern.lastIndex;
}
