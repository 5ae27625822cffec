// The conditions of a query of logs (LOG-4): every term of `query-terms.ts` has to match. A query that cannot be read
// is refused with the position, so that no wrong result is trusted.

import { endOfFirst, partOf } from '../../access/pattern.ts';
import { LOG_WRITER, type LogLevel, type LogRecord } from '../records/records.ts';
import { compileRegex, REGEX_INSTRUCTIONS_MAX } from './log-expression.ts';
import { SEVERITY_NUMBERS } from './log-record.ts';
import { type FieldTerm, REGEX_BYTES_MAX, readTerms, severityOf, type TermProblem } from './query-terms.ts';
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
  const folded = new FoldedRecord();
  const conditions: LogMatcher[] = [];
  // Expressions are evaluated last: they cost most, and nothing where another part did not match.
  const expressions: LogMatcher[] = [];
  let instructions = 0;
  for (const term of readTerms(text)) {
    if (term.problem !== undefined) return unreadable(term.problem);
    if (term.kind === 'regex') {
      const compiled = compileRegex(term.source, term.ignoresCase);
      if (typeof compiled === 'string') return unreadable({ at: term.start, text: compiled });
      instructions += compiled.instructions;
      if (instructions > REGEX_INSTRUCTIONS_MAX) {
        const limit = `the limit is ${REGEX_INSTRUCTIONS_MAX}; repeat less`;
        return unreadable({
          at: term.start,
          text: `its expressions have ${instructions} instructions together, ${limit}`,
        });
      }
      expressions.push(negated(term.isNot, ({ body }, budget) => compiled.matches(body, budget)));
    } else {
      const matches = term.kind === 'field' ? conditionOf(term) : containing(term.text, folded);
      conditions.push(negated(term.isNot, matches));
    }
    if (conditions.length + expressions.length > TERMS_MAX) {
      return unreadable({ at: term.end, text: `it has more than ${TERMS_MAX} parts` });
    }
  }
  const matchers = [...conditions, ...expressions];
  return { ok: true, matches: (record, budget) => matchers.every((matches) => matches(record, budget)) };
}

function unreadable({ at, text }: TermProblem): ReadLogQuery {
  return { ok: false, reason: `The query cannot be read at character ${at + 1}: ${text}` };
}

function negated(isNot: boolean, matches: LogMatcher): LogMatcher {
  return isNot ? (record, budget) => !matches(record, budget) : matches;
}

function conditionOf({ field, operator, value }: FieldTerm): LogMatcher {
  const textOf = TEXTS.get(field);
  if (textOf !== undefined) return textCondition(field, operator, value, textOf);
  if (field.startsWith(ATTRIBUTE)) return attributeCondition(field.slice(ATTRIBUTE.length), operator, value);
  return severityCondition(operator, severityOf(value) ?? 'error');
}

const ATTRIBUTE = 'attr.';

type TextOf = (record: LogRecord) => string;

const TEXTS: ReadonlyMap<string, TextOf> = new Map<string, TextOf>([
  ['service', ({ service_name: service }) => service],
  ['function', functionOf],
  ['worker', workerOf],
  ['job', jobOf],
  ['trace', ({ trace_id: id }) => id ?? ''],
  ['trace_id', ({ trace_id: id }) => id ?? ''],
  ['span', ({ span_id: id }) => id ?? ''],
  ['span_id', ({ span_id: id }) => id ?? ''],
]);

/** Where a writer sets only its service, that is the function. */
function functionOf({ attributes, service_name: service }: LogRecord): string {
  return attributeAt(attributes, LOG_WRITER.function, [LOG_WRITER.function]) ?? service;
}

/** The loggers of workers name the worker as the service. */
function workerOf({ attributes, service_name: service }: LogRecord): string {
  return attributeAt(attributes, LOG_WRITER.worker, [LOG_WRITER.worker]) ?? service;
}

function jobOf({ attributes }: LogRecord): string {
  return attributeAt(attributes, LOG_WRITER.job, [LOG_WRITER.job]) ?? '';
}

function textCondition(name: string, operator: string, value: string, textOf: TextOf): LogMatcher {
  const compare = textComparison(operator, value);
  const shown = `${name}${operator}${value}`;
  return (record, budget) => {
    const text = textOf(record);
    budget.charge(shown, VALUE_STEPS, text.length);
    return compare(text);
  };
}

/** `:` searches for a part, case-insensitively, `=` for the whole. */
function textComparison(operator: string, value: string): (found: string) => boolean {
  const lower = value.toLowerCase();
  if (operator === '=') return (found) => found === value;
  if (operator === '!=') return (found) => found !== value;
  return (found) => found.toLowerCase().includes(lower);
}

function attributeCondition(key: string, operator: string, value: string): LogMatcher {
  const path = key.split('.');
  const compare = /[<>]/.test(operator) ? numberComparison(operator, Number(value)) : textComparison(operator, value);
  const shown = `attr.${key}${operator}${value}`;
  return ({ attributes }, budget) => {
    budget.charge(shown, LOOKUP_STEPS, path.length);
    const found = attributeAt(attributes, key, path);
    if (found === undefined) return operator === '!=';
    budget.charge(shown, VALUE_STEPS, found.length);
    return compare(found);
  };
}

function numberComparison(operator: string, limit: number): (found: string) => boolean {
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

function severityCondition(operator: string, word: LogLevel): LogMatcher {
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

/**
 * What a record says, in lower case. Words of a query look at one record after the other: each is folded once, however
 * many words there are, since that takes far longer than to look for a word in it.
 */
class FoldedRecord {
  #record: LogRecord | undefined;
  #body: string | undefined;
  #values: readonly string[] | undefined;

  turnTo(record: LogRecord): void {
    if (record === this.#record) return;
    this.#record = record;
    this.#body = undefined;
    this.#values = undefined;
  }

  get body(): string {
    this.#body ??= this.#record?.body.toLowerCase() ?? '';
    return this.#body;
  }

  /** Of its attributes; what is no text as JSON. */
  get values(): readonly string[] {
    this.#values ??= Object.values(this.#record?.attributes ?? {}).map((value) =>
      (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toLowerCase(),
    );
    return this.#values;
  }
}
