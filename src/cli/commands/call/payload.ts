// The payload of a call, from JSON, a file or stdin, with key=value pairs set over it (CLI-20):
// `'{"sku":"a1"}' qty:=2 tags[]=new address.city=Oslo`.
//
// Keys are set as own properties, so that `__proto__=x` is an ordinary field (X19).

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageFailure } from '../../kernel/failures.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';
import type { Terminal } from '../../text/terminal.ts';

/** Larger than any message that the engine accepts; protects only the memory of this process. */
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

type InputTerminal = Pick<Terminal, 'cwd' | 'readInput'>;

/** Without payload and pairs, an empty object. */
export async function readPayload(
  source: string | undefined,
  pairs: readonly string[],
  terminal: InputTerminal,
): Promise<unknown> {
  const [first] = pairs;
  // The first operand may be the whole payload: no pair begins like it.
  const isWhole = source === undefined && first !== undefined && WHOLE_PAYLOAD.test(first);
  const given = isWhole ? first : source;
  const payload = given === undefined ? {} : await readJson(given, PAYLOAD, terminal);
  return applyPairs(payload, isWhole ? pairs.slice(1) : pairs);
}

/** JSON that is no bare word, a file, or stdin. */
const WHOLE_PAYLOAD = /^(?:[\s[{"@]|-$|(?:-?\d[\d.eE+-]*|true|false|null)$)/;

/** How error messages name the input. */
export interface InputNames {
  /** `payload`, `value`. */
  readonly what: string;
  /** The origin that errors name when the text was given directly: `--payload`. */
  readonly origin: string;
  readonly hint: string;
}

const PAYLOAD: InputNames = {
  what: 'payload',
  origin: 'the command line',
  hint: `In a shell, put it into single quotes: '{"sku":"a1"}', or write pairs: sku=a1`,
};

/** JSON given directly, from a file (`@file`), or from stdin (`-`). */
export async function readJson(source: string, names: InputNames, terminal: InputTerminal): Promise<unknown> {
  const { text, origin } = await readText(source, names, terminal);
  const value = parse(text, origin, names);
  refuseNumberLoss(text, `The ${names.what} from ${origin}`);
  return value;
}

function parse(text: string, origin: string, { what, hint }: InputNames): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageFailure(`The ${what} from ${origin} is not valid JSON: ${reason}.`, hint);
  }
}

/** Text given directly, from a file (`@file`), or from stdin (`-`). */
export async function readText(
  source: string,
  { what, origin }: InputNames,
  terminal: InputTerminal,
): Promise<{ readonly text: string; readonly origin: string }> {
  if (source === '-') return { text: await readStdin(what, terminal), origin: 'stdin' };
  if (!source.startsWith('@')) return { text: source, origin };
  const path = resolve(terminal.cwd, source.slice(1));
  try {
    return { text: await readFile(path, 'utf8'), origin: path };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw usageFailure(`Cannot read the ${what} from ${path} (${error.code}).`);
  }
}

async function readStdin(what: string, terminal: InputTerminal): Promise<string> {
  const text = await terminal.readInput(PAYLOAD_BYTES_MAX);
  if (text === undefined) throw usageFailure(`The ${what} on stdin is larger than ${PAYLOAD_BYTES_MAX} bytes.`);
  return text;
}

type JsonObject = { [key: string]: unknown };

/** The payload with the pairs set over it. Without pairs, the payload unchanged, of any type. */
export function applyPairs(payload: unknown, pairs: readonly string[]): unknown {
  if (pairs.length === 0) return payload;
  if (!isObject(payload)) {
    throw usageFailure(`The payload is ${kindOf(payload)}; key=value pairs need an object.`);
  }
  const result = copyObject(payload);
  const ownLists = new WeakSet<unknown[]>();
  for (const text of pairs) setPair(result, readPair(text), ownLists);
  return result;
}

interface Pair {
  readonly text: string;
  readonly path: readonly string[];
  /** `key[]=`: adds to a list that starts empty. */
  readonly isListItem: boolean;
  readonly value: unknown;
}

function readPair(text: string): Pair {
  const equals = text.indexOf('=');
  if (equals < 0) {
    throw usageFailure(`'${text}' is not a pair: expected key=text, key:=json or key[]=text.`, PAIRS_HINT);
  }
  const isJson = text[equals - 1] === ':';
  const left = text.slice(0, isJson ? equals - 1 : equals);
  const isListItem = left.endsWith('[]');
  const path = (isListItem ? left.slice(0, -2) : left).split('.');
  if (path.includes('')) throw usageFailure(`'${text}' has an empty key: expected key=text or outer.inner=text.`);
  const valueText = text.slice(equals + 1);
  return { text, path, isListItem, value: isJson ? parsePairJson(text, valueText) : valueText };
}

function parsePairJson(text: string, json: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw usageFailure(`'${text}': '${json}' is not valid JSON.`, 'Write JSON after :=, or key=text for a text.');
  }
  refuseNumberLoss(json, `'${text}'`);
  return value;
}

function setPair(root: JsonObject, { text, path, isListItem, value }: Pair, ownLists: WeakSet<unknown[]>): void {
  let target = root;
  for (const [depth, key] of path.slice(0, -1).entries()) {
    const inner = Object.hasOwn(target, key) ? target[key] : {};
    if (!isObject(inner)) {
      const field = path.slice(0, depth + 1).join('.');
      throw usageFailure(`'${text}' does not fit: ${field} is ${kindOf(inner)}, not an object.`);
    }
    const copy = copyObject(inner);
    setOwn(target, key, copy);
    target = copy;
  }
  const last = path.at(-1) ?? '';
  if (!isListItem) {
    setOwn(target, last, value);
    return;
  }
  // The first item replaces the value that the payload had under the key, as any pair does; the others are appended.
  const present = Object.hasOwn(target, last) ? target[last] : undefined;
  if (Array.isArray(present) && ownLists.has(present)) {
    present.push(value);
    return;
  }
  const list = [value];
  ownLists.add(list);
  setOwn(target, last, list);
}

const PAIRS_HINT = `Pass a whole payload as JSON, '{"key":1}', as @file or as - for stdin.`;

function setOwn(target: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

function copyObject(source: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(source)) setOwn(copy, key, value);
  return copy;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
