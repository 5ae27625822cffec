// One route of the console API: its name in the contract, the check of its request, and its handler.

import { isUtf8 } from 'node:buffer';
import type { AnswerOf, BodyOf, QueryOf, RouteName } from '../../../console/api/routes.ts';
import type { RawJson } from '../../../protocol/json/byte-string.ts';
import { mismatchText } from '../../../protocol/json/expected-text.ts';
import { CommandInput } from '../../../store/thread/command-input.ts';
import { rawOfBytes } from '../sources/built-ins.ts';
import { failure } from '../sources/failure.ts';
import type { RawAnswer } from '../sources/json-text.ts';

export interface Asked {
  /** The names in the path, decoded. */
  readonly params: readonly string[];
  readonly query: string;
  readonly body: Buffer;
  readonly headers: readonly string[];
}

export interface Route {
  readonly name: RouteName;
  handle(asked: Asked): Promise<unknown>;
}

/** The answer of a typia validator. */
type Checked<T> =
  | { readonly success: true; readonly data: T }
  | {
      readonly success: false;
      readonly errors: readonly { readonly path: string; readonly expected: string; readonly value: unknown }[];
    };

type Answer<R extends RouteName> = AnswerOf<R> | RawAnswer;

export interface AskedQuery<R extends RouteName> {
  /** The names in the path, in order; `''` after the last. */
  name(at: number): string;
  readonly query: QueryOf<R>;
}

export interface AskedBody<R extends RouteName> {
  name(at: number): string;
  readonly body: BodyOf<R>;
  readonly headers: readonly string[];
  /** The text of a member of the body, unchanged. */
  raw(member: string): RawJson | undefined;
}

export function reading<R extends RouteName>(
  name: R,
  check: (input: unknown) => Checked<QueryOf<R>>,
  handle: (asked: AskedQuery<R>) => Answer<R> | Promise<Answer<R>>,
): Route {
  return {
    name,
    async handle({ params, query }) {
      const value = checked(check, { ...readQuery(query) }, '$input', 'The query');
      return handle({ name: (at) => params[at] ?? '', query: value });
    },
  };
}

export function sending<R extends RouteName>(
  name: R,
  check: (input: unknown) => Checked<BodyOf<R>>,
  handle: (asked: AskedBody<R>) => Answer<R> | Promise<Answer<R>>,
): Route {
  return {
    name,
    async handle({ params, body, headers }) {
      const value = checked(check, parseBody(body), '$input', 'The body');
      const input = new CommandInput(name, body);
      return handle({
        name: (at) => params[at] ?? '',
        body: value,
        headers,
        raw(member) {
          const bytes = input.json(member);
          return bytes && rawOfBytes(bytes);
        },
      });
    },
  };
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return {};
  if (!isUtf8(body)) throw failure('BAD_REQUEST', 'The body is not UTF-8 text');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw failure('BAD_REQUEST', `The body is not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function checked<T>(check: (input: unknown) => Checked<T>, input: unknown, root: string, what: string): T {
  const result = check(input);
  if (result.success) return result.data;
  const [first] = result.errors;
  const place = first === undefined ? '' : first.path.slice(root.length + 1);
  const isUnknown = first?.expected === 'undefined';
  const rule = isUnknown ? 'must not be there' : mismatchText(first?.expected ?? '', first?.value);
  throw failure('BAD_REQUEST', `${what}: ${place === '' ? 'it' : `field '${place}'`} ${rule}`);
}

/** Parameters that are numbers, wherever they occur. */
const NUMBERS: ReadonlySet<string> = new Set([
  'limit',
  'start_time',
  'points',
  'end_time',
  'max_depth',
  'aggregate_interval',
  'level',
  'attempts_min',
  'older_than_ms',
]);
const FLAGS: ReadonlySet<string> = new Set(['internal', 'recent', 'system', 'errors', 'edges']);

/** The last of several values counts. A value that cannot be converted stays text, and is refused as such. */
export function readQuery(query: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, text] of new URLSearchParams(query)) values[name] = typed(name, text);
  return values;
}

function typed(name: string, text: string): unknown {
  if (NUMBERS.has(name) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (FLAGS.has(name) && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
