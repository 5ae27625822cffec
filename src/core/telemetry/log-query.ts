// The query box of logs (LOG-4): words, "a phrase", -not, service:name, function=id,
// severity>=warn, attr.key=value, /regex/.
// Everything must hold. A query that cannot be read is refused with the place, so that nobody trusts a wrong result.

import { RE2JS } from 're2js';
import { LOG_LEVELS, SEVERITY_NUMBERS } from './log-record.ts';
import type { LogRecord } from './records.ts';

export type LogMatcher = (record: LogRecord) => boolean;

export type ReadLogQuery =
  | { readonly ok: true; readonly matches: LogMatcher }
  /** In words for whoever typed it. */
  | { readonly ok: false; readonly reason: string };

export const QUERY_BYTES_MAX = 4_096;
/** Decisions 48. */
export const REGEX_BYTES_MAX = 256;
const TERMS_MAX = 64;

export function readLogQuery(text: string): ReadLogQuery {
  if (Buffer.byteLength(text) > QUERY_BYTES_MAX) {
    return { ok: false, reason: `The query has ${Buffer.byteLength(text)} bytes; at most ${QUERY_BYTES_MAX} may be` };
  }
  const reader = new Reader(text);
  const matchers: LogMatcher[] = [];
  try {
    for (let term = reader.next(); term !== undefined; term = reader.next()) {
      if (matchers.length === TERMS_MAX) throw new QueryOffence(`it has more than ${TERMS_MAX} parts`, reader.at);
      matchers.push(term);
    }
  } catch (error) {
    if (!(error instanceof QueryOffence)) throw error;
    return { ok: false, reason: `The query cannot be read at character ${error.at + 1}: ${error.message}` };
  }
  return { ok: true, matches: (record) => matchers.every((matches) => matches(record)) };
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
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): LogMatcher | undefined {
    while (/\s/.test(this.#char)) this.at++;
    if (this.at >= this.#text.length) return undefined;
    if (this.#char !== '-' || /\s|^$/.test(this.#text.charAt(this.at + 1))) return this.#term();
    this.at++;
    const term = this.#term();
    return (record) => !term(record);
  }

  get #char(): string {
    return this.#text.charAt(this.at);
  }

  #term(): LogMatcher {
    if (this.#char === '"') return containing(this.#quoted());
    if (this.#char === '/') return this.#regex();
    const field = FIELD.exec(this.#text.slice(this.at));
    const [whole = '', name = '', operator = ''] = field ?? [];
    const condition = field === null ? undefined : conditionOn(name);
    if (condition === undefined) return containing(this.#word());
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
    if (flags !== '' && flags !== 'i') throw new QueryOffence(`'${flags}' is no flag; 'i' ignores case`, start);
    const compiled = compileRegex(source, flags === 'i');
    if (typeof compiled === 'string') throw new QueryOffence(compiled, start);
    return ({ body }) => compiled(body);
  }
}

/** A search that takes time linear in the text, or what is wrong with the expression. */
export function compileRegex(source: string, ignoresCase: boolean): ((text: string) => boolean) | string {
  if (Buffer.byteLength(source) > REGEX_BYTES_MAX) {
    return `a regular expression may have at most ${REGEX_BYTES_MAX} bytes`;
  }
  try {
    const pattern = RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    return (text) => pattern.matcher(text).find();
  } catch (error) {
    return `the regular expression is not valid: ${error instanceof Error ? error.message : String(error)}`;
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

/** Where a writer names only its service, that is the function. */
function functionOf({ attributes, service_name: service }: LogRecord): string {
  return attributeAt(attributes, 'function_id') ?? service;
}

/** `:` looks for a part in any case, `=` for the whole. */
function textCondition(name: string, textOf: (record: LogRecord) => string): Condition {
  return (operator, value) => {
    const lower = value.toLowerCase();
    if (operator === ':') return (record) => textOf(record).toLowerCase().includes(lower);
    if (operator === '=') return (record) => textOf(record) === value;
    if (operator === '!=') return (record) => textOf(record) !== value;
    return `'${name}' takes ':', '=' or '!=', found '${operator}'`;
  };
}

function attributeCondition(key: string): Condition {
  return (operator, value) => {
    const compare = attributeComparison(operator, value);
    if (compare === undefined) return `'${operator}' after 'attr.${key}' needs a number, found '${value}'`;
    return ({ attributes }) => {
      const found = attributeAt(attributes, key);
      return found === undefined ? operator === '!=' : compare(found);
    };
  };
}

function attributeComparison(operator: string, value: string): ((found: string) => boolean) | undefined {
  if (operator === '=') return (found) => found === value;
  if (operator === '!=') return (found) => found !== value;
  if (operator === ':') return (found) => found.toLowerCase().includes(value.toLowerCase());
  const limit = Number(value);
  if (value.trim() === '' || Number.isNaN(limit)) return undefined;
  return (found) => found.trim() !== '' && compareNumbers(Number(found), operator, limit);
}

/** A key with dots names an attribute that is called so, or a member within one. */
function attributeAt(attributes: Readonly<Record<string, unknown>>, key: string): string | undefined {
  let value: unknown = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (value === undefined && key.includes('.')) value = memberAt(attributes, key.split('.'));
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
  if (word === undefined) return `'${value}' is no severity: one of ${LOG_LEVELS.join(', ')}`;
  // A word stands for its range: fatal errors, 21 to 24, are errors too.
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
function containing(part: string): LogMatcher {
  const lower = part.toLowerCase();
  return ({ body, attributes }) =>
    body.toLowerCase().includes(lower) ||
    Object.values(attributes).some((value) =>
      (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toLowerCase().includes(lower),
    );
}
