// The query box of logs (LOG-4): words, "a phrase", -not, service:name, function=id, severity>=warn, attr.key=value,
// /regex/. All parts must match. A query that cannot be parsed is refused with the position, so that no wrong result is
// trusted.

import { endOfFirst, partOf } from '../../access/pattern.ts';
import type { LogRecord } from '../records/records.ts';
import { FoldedRecord } from './folded-record.ts';
import { compileRegex, REGEX_BYTES_MAX, REGEX_INSTRUCTIONS_MAX } from './log-expression.ts';
import { LOG_LEVELS, SEVERITY_NUMBERS } from './log-record.ts';
import type { SearchBudget } from './search-budget.ts';

/** Throws the `Refusal` of a search that is over its budget. */
export type LogMatcher = (record: LogRecord, budget: SearchBudget) => boolean;

export type ReadLogQuery =
  | { readonly ok: true; readonly matches: LogMatcher }
  /** In words for the person who typed it. */
  | { readonly ok: false; readonly reason: string };

export const QUERY_BYTES_MAX = 4_096;
/** Steps of a word for each character. The search for one word is far faster than an expression; many words add up. */
const WORD_STEPS = 1 / 8;
/** The built-in search for a longer one reads the same text several times. */
const PLAIN_WORD_CHARS_MAX = 32;
const LONG_WORD_STEPS = 2;
/** Of a value that each condition turns into text or lower case again. */
const VALUE_STEPS = 1;
/** To look up one member on the path of an attribute, also one that is not there. */
const LOOKUP_STEPS = 8;
const TERMS_MAX = 64;

export function readLogQuery(text: string): ReadLogQuery {
  if (Buffer.byteLength(text) > QUERY_BYTES_MAX) {
    return { ok: false, reason: `The query has ${Buffer.byteLength(text)} bytes; the limit is ${QUERY_BYTES_MAX}` };
  }
  const reader = new Reader(text);
  const terms: Term[] = [];
  try {
    for (let term = reader.next(); term !== undefined; term = reader.next()) {
      if (terms.length === TERMS_MAX) throw new QueryOffence(`it has more than ${TERMS_MAX} parts`, reader.at);
      terms.push(term);
    }
  } catch (error) {
    if (!(error instanceof QueryOffence)) throw error;
    return { ok: false, reason: `The query cannot be read at character ${error.at + 1}: ${error.message}` };
  }
  // Expressions are evaluated last: they cost most, and nothing where another part did not match.
  const matchers = [...terms.filter(({ isRegex }) => !isRegex), ...terms.filter(({ isRegex }) => isRegex)];
  return { ok: true, matches: (record, budget) => matchers.every(({ matches }) => matches(record, budget)) };
}

interface Term {
  readonly isRegex: boolean;
  readonly matches: LogMatcher;
}

class QueryOffence extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  readonly #folded = new FoldedRecord();
  #instructions = 0;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): Term | undefined {
    while (/\s/.test(this.#char)) this.at++;
    if (this.at >= this.#text.length) return undefined;
    if (this.#char !== '-' || /\s|^$/.test(this.#text.charAt(this.at + 1))) return this.#term();
    this.at++;
    const { isRegex, matches } = this.#term();
    return { isRegex, matches: (record, budget) => !matches(record, budget) };
  }

  get #char(): string {
    return this.#text.charAt(this.at);
  }

  #term(): Term {
    if (this.#char === '/') return { isRegex: true, matches: this.#regex() };
    return { isRegex: false, matches: this.#plain() };
  }

  #plain(): LogMatcher {
    if (this.#char === '"') return containing(this.#quoted(), this.#folded);
    const field = FIELD.exec(this.#text.slice(this.at));
    const [whole = '', name = '', operator = ''] = field ?? [];
    const condition = field === null ? undefined : conditionOn(name);
    if (condition === undefined) return containing(this.#word(), this.#folded);
    const start = this.at;
    this.at += whole.length;
    const value = this.#char === '"' ? this.#quoted() : this.#word();
    const matcher = condition(operator, value);
    if (typeof matcher === 'string') throw new QueryOffence(matcher, start);
    return matcher;
  }

  #word(): string {
    const [word = ''] = /^\S*/.exec(this.#text.slice(this.at)) ?? [];
    this.at += word.length;
    return word;
  }

  /** `\"` and `\\` stand for the characters themselves. */
  #quoted(): string {
    const start = this.at;
    let text = '';
    for (this.at++; this.at < this.#text.length; this.at++) {
      if (this.#char === '"') {
        this.at++;
        return text;
      }
      if (this.#char === '\\' && /["\\]/.test(this.#text.charAt(this.at + 1))) this.at++;
      text += this.#char;
    }
    throw new QueryOffence('the quotation mark is not closed', start);
  }

  #regex(): LogMatcher {
    const start = this.at;
    let source = '';
    for (this.at++; this.at < this.#text.length && this.#char !== '/'; this.at++) {
      if (this.#char === '\\' && this.#text.charAt(this.at + 1) === '/') this.at++;
      else if (this.#char === '\\') source += this.#text.charAt(this.at++);
      source += this.#char;
    }
    if (this.at >= this.#text.length) throw new QueryOffence("the regular expression has no closing '/'", start);
    this.at++;
    const flags = this.#word();
    if (flags !== '' && flags !== 'i') throw new QueryOffence(`'${flags}' is not a flag; 'i' ignores case`, start);
    const compiled = compileRegex(source, flags === 'i');
    if (typeof compiled === 'string') throw new QueryOffence(compiled, start);
    this.#instructions += compiled.instructions;
    if (this.#instructions > REGEX_INSTRUCTIONS_MAX) {
      const limit = `the limit is ${REGEX_INSTRUCTIONS_MAX}; repeat less`;
      throw new QueryOffence(`its expressions have ${this.#instructions} instructions together, ${limit}`, start);
    }
    return ({ body }, budget) => compiled.matches(body, budget);
  }
}

const FIELD = /^([A-Za-z_][^\s"=<>!:]*)(>=|<=|!=|=|>|<|:)/;

type Condition = (operator: string, value: string) => LogMatcher | string;

function conditionOn(name: string): Condition | undefined {
  if (name.startsWith('attr.') && name.length > 5) return attributeCondition(name.slice(5));
  return CONDITIONS.get(name.toLowerCase());
}

const CONDITIONS: ReadonlyMap<string, Condition> = new Map<string, Condition>([
  ['service', textCondition('service', ({ service_name: service }) => service)],
  ['function', textCondition('function', functionOf)],
  ['trace', textCondition('trace', ({ trace_id: id }) => id ?? '')],
  ['trace_id', textCondition('trace_id', ({ trace_id: id }) => id ?? '')],
  ['span', textCondition('span', ({ span_id: id }) => id ?? '')],
  ['span_id', textCondition('span_id', ({ span_id: id }) => id ?? '')],
  ['severity', severityCondition],
  ['level', severityCondition],
]);

/** Where a writer sets only its service, that is the function. */
function functionOf({ attributes, service_name: service }: LogRecord): string {
  return attributeAt(attributes, 'function_id', ['function_id']) ?? service;
}

/** `:` searches for a part, case-insensitively, `=` for the whole. */
function textCondition(name: string, textOf: (record: LogRecord) => string): Condition {
  return (operator, value) => {
    const compare = textComparison(operator, value);
    if (compare !== undefined) {
      const shown = `${name}${operator}${value}`;
      return (record, budget) => {
        const text = textOf(record);
        budget.charge(shown, VALUE_STEPS, text.length);
        return compare(text);
      };
    }
    return `'${name}' takes ':', '=' or '!=', found '${operator}'`;
  };
}

function textComparison(operator: string, value: string): ((found: string) => boolean) | undefined {
  const lower = value.toLowerCase();
  if (operator === '=') return (found) => found === value;
  if (operator === '!=') return (found) => found !== value;
  return operator === ':' ? (found) => found.toLowerCase().includes(lower) : undefined;
}

function attributeCondition(key: string): Condition {
  const path = key.split('.');
  return (operator, value) => {
    const compare = attributeComparison(operator, value);
    if (compare === undefined) return `'${operator}' after 'attr.${key}' needs a number, found '${value}'`;
    const shown = `attr.${key}${operator}${value}`;
    return ({ attributes }, budget) => {
      budget.charge(shown, LOOKUP_STEPS, path.length);
      const found = attributeAt(attributes, key, path);
      if (found === undefined) return operator === '!=';
      budget.charge(shown, VALUE_STEPS, found.length);
      return compare(found);
    };
  };
}

function attributeComparison(operator: string, value: string): ((found: string) => boolean) | undefined {
  const ofText = textComparison(operator, value);
  if (ofText !== undefined) return ofText;
  const limit = Number(value);
  if (value.trim() === '' || Number.isNaN(limit)) return undefined;
  return (found) => found.trim() !== '' && compareNumbers(Number(found), operator, limit);
}

/** A key with dots names an attribute with that key, or a member within one. */
function attributeAt(
  attributes: Readonly<Record<string, unknown>>,
  key: string,
  path: readonly string[],
): string | undefined {
  let value: unknown = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (value === undefined && path.length > 1) value = memberAt(attributes, path);
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

function severityCondition(operator: string, value: string): LogMatcher | string {
  const word = LOG_LEVELS.find(
    (level) => level === value.toLowerCase() || (level === 'warn' && /^warning$/i.test(value)),
  );
  if (word === undefined) return `'${value}' is not a severity: one of ${LOG_LEVELS.join(', ')}`;
  // A word means its range: fatal errors, 21 to 24, are errors too.
  const low = SEVERITY_NUMBERS[word];
  const high = word === 'error' ? 24 : low + 3;
  return ({ severity_number: number }) => {
    if (operator === '>=') return number >= low;
    if (operator === '>') return number > high;
    if (operator === '<=') return number <= high;
    if (operator === '<') return number < low;
    return (number >= low && number <= high) !== (operator === '!=');
  };
}

function compareNumbers(found: number, operator: string, limit: number): boolean {
  if (operator === '>=') return found >= limit;
  if (operator === '<=') return found <= limit;
  return operator === '>' ? found > limit : found < limit;
}

/** In the body, or in the value of an attribute, in any case. */
function containing(part: string, folded: FoldedRecord): LogMatcher {
  const lower = part.toLowerCase();
  const shown = `"${part.slice(0, REGEX_BYTES_MAX)}"`;
  const long = lower.length > PLAIN_WORD_CHARS_MAX ? partOf(lower) : undefined;
  const steps = long === undefined ? WORD_STEPS : LONG_WORD_STEPS;
  const isIn = (text: string, budget: SearchBudget): boolean => {
    budget.charge(shown, steps, text.length);
    return long === undefined ? text.includes(lower) : endOfFirst(long, text, 0, text.length) >= 0;
  };
  return (record, budget) => {
    folded.turnTo(record);
    return isIn(folded.body, budget) || folded.values.some((text) => isIn(text, budget));
  };
}
