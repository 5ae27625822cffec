// The query box of the logs (LOG-4): the typed text as terms that can be shown as chips, switched off and joined again.
// The server parses the same text in the same language and decides what matches. This side only splits and joins, and
// reports at once what the server would refuse.
//
//   words  "a phrase"  -not  service:billing  severity>=warn  attr.key=value  /regex/

export type TermKind = 'word' | 'phrase' | 'regex' | 'field';

export interface LogTerm {
  /** As typed, without the leading `-`. */
  readonly text: string;
  readonly kind: TermKind;
  readonly isNot: boolean;
  /** What is wrong with it, for the user. Such a term is not sent. */
  readonly problem?: string;
}

const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'warning', 'error'];
const REGEX_BYTES_MAX = 256;
const FIELD = /^(service|function|trace|trace_id|span|span_id|severity|level|attr\.[^\s"=<>!:]+)(>=|<=|!=|=|>|<|:)/i;

export function parseLogQuery(query: string): LogTerm[] {
  const terms: LogTerm[] = [];
  for (let at = nextTerm(query, 0); at < query.length; ) {
    const isNot = /^-\S/.test(query.slice(at, at + 2));
    const from = isNot ? at + 1 : at;
    const { kind, end, problem } = readTerm(query, from);
    terms.push({ text: query.slice(from, end), kind, isNot, ...(problem !== undefined && { problem }) });
    at = nextTerm(query, end);
  }
  return terms;
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

interface ReadTerm {
  readonly kind: TermKind;
  readonly end: number;
  readonly problem?: string | undefined;
}

function nextTerm(query: string, from: number): number {
  let at = from;
  while (at < query.length && /\s/.test(query[at] ?? '')) at += 1;
  return at;
}

function readTerm(query: string, from: number): ReadTerm {
  if (query[from] === '"') return { kind: 'phrase', ...readQuoted(query, from) };
  if (query[from] === '/') return { kind: 'regex', ...readRegex(query, from) };
  const field = FIELD.exec(query.slice(from));
  if (field === null) return { kind: 'word', end: endOfWord(query, from) };
  const valueAt = from + field[0].length;
  const value = query[valueAt] === '"' ? readQuoted(query, valueAt) : { end: endOfWord(query, valueAt) };
  const text = query.slice(valueAt, value.end);
  return {
    kind: 'field',
    end: value.end,
    problem: value.problem ?? fieldProblem(field[1] ?? '', field[2] ?? '', text),
  };
}

interface ReadPart {
  readonly end: number;
  readonly problem?: string;
}

function readQuoted(query: string, from: number): ReadPart {
  for (let at = from + 1; at < query.length; at += 1) {
    if (query[at] === '\\' && /["\\]/.test(query[at + 1] ?? '')) at += 1;
    else if (query[at] === '"') return { end: at + 1 };
  }
  return { end: query.length, problem: 'the closing " is missing' };
}

function readRegex(query: string, from: number): ReadPart {
  for (let at = from + 1; at < query.length; at += 1) {
    if (query[at] === '\\') at += 1;
    else if (query[at] === '/') return checkedRegex(query, from, at);
  }
  return { end: query.length, problem: 'the closing / is missing' };
}

function checkedRegex(query: string, from: number, slash: number): ReadPart {
  const end = endOfWord(query, slash + 1);
  const flags = query.slice(slash + 1, end);
  const body = query.slice(from + 1, slash).replaceAll('\\/', '/');
  const bytes = new TextEncoder().encode(body).length;
  if (body === '') return { end, problem: 'the expression is empty' };
  if (bytes > REGEX_BYTES_MAX) {
    return { end, problem: `the expression has ${bytes} bytes, the limit is ${REGEX_BYTES_MAX}` };
  }
  if (flags !== '' && flags !== 'i') return { end, problem: `"${flags}" is not a flag; i ignores case` };
  return { end };
}

function endOfWord(query: string, from: number): number {
  let at = from;
  while (at < query.length && !/\s/.test(query[at] ?? '')) at += 1;
  return at;
}

function fieldProblem(name: string, operator: string, value: string): string | undefined {
  const field = name.toLowerCase();
  if (field === 'severity' || field === 'level') {
    const word = unquote(value).toLowerCase();
    return SEVERITIES.includes(word) ? undefined : `"${value}" is not a severity: trace, debug, info, warn, error`;
  }
  if (field.startsWith('attr.')) {
    if (!/[<>]/.test(operator) || isNumber(unquote(value))) return undefined;
    return `"${operator}" needs a number, found "${value}"`;
  }
  if (![':', '=', '!='].includes(operator)) return `${field} takes ":", "=" or "!=", found "${operator}"`;
  return value === '' ? 'the value is missing' : undefined;
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text));
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (sign) => `\\${sign}`)}"`;
}

function unquote(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text;
}
