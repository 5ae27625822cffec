// JSON read with its source kept (JSN-2): every number, key order, duplicate key and escape can be shown as it is
// stored. Strings are decoded for showing; `source` gives any value back as it was written.
//
// The text is walked without recursion, so depth is no limit.

export type JsonNode = JsonLeaf | JsonObjectNode | JsonArrayNode;

interface Placed {
  /** Where its text is: from, to behind the last character. */
  start: number;
  end: number;
}

export interface JsonLeaf extends Placed {
  readonly kind: 'string' | 'number' | 'boolean' | 'null';
}

export interface JsonObjectNode extends Placed {
  readonly kind: 'object';
  readonly members: { readonly key: string; readonly value: JsonNode; readonly duplicate: boolean }[];
}

export interface JsonArrayNode extends Placed {
  readonly kind: 'array';
  readonly items: JsonNode[];
}

export class JsonSyntaxError extends Error {
  /** Of the first character that cannot be there. */
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const SPACES = /[ \t\r\n]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const [TAB, LINE_FEED, RETURN, SPACE, QUOTE, COMMA, COLON] = [9, 10, 13, 32, 34, 44, 58];
const [BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [92, 91, 93, 123, 125];

/** No more names than these are looked through one by one. */
const NAMES_LOOKED_THROUGH_MAX = 8;

type Deep = JsonObjectNode | JsonArrayNode;

interface Open {
  readonly node: Deep;
  key: string;
  /** Of an object with many members. */
  names: Set<string> | undefined;
  /** What may come next. */
  expect: 'first' | 'value' | 'key' | 'colon' | 'after';
}

/** Throws `JsonSyntaxError` where the text is no JSON. */
export function parseJsonSource(text: string): JsonNode {
  const reader = new JsonReader(text);
  reader.read(Number.POSITIVE_INFINITY);
  return reader.root;
}

/** Reads a text in as many steps as its owner wants. */
export class JsonReader {
  readonly #text: string;
  readonly #open: Open[] = [];
  #at = 0;
  #root: JsonNode | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Once all is read. */
  get root(): JsonNode {
    if (this.#root === undefined || this.#open.length > 0) {
      throw new JsonSyntaxError('The text ends too early', this.#text.length);
    }
    return this.#root;
  }

  /** So many tokens more; whether there is more then. */
  read(tokens: number): boolean {
    for (let read = 0; read < tokens && this.#at < this.#text.length; read++) this.#take();
    return this.#at < this.#text.length;
  }

  #take(): void {
    const start = this.#at;
    const top = this.#open.at(-1);
    switch (this.#text.charCodeAt(start)) {
      case TAB:
      case LINE_FEED:
      case RETURN:
      case SPACE:
        this.#at = spaceEnd(this.#text, start);
        return;
      case OPEN_OBJECT:
        return this.#begin(top, { kind: 'object', members: [], start, end: start + 1 });
      case OPEN_ARRAY:
        return this.#begin(top, { kind: 'array', items: [], start, end: start + 1 });
      case CLOSE_OBJECT:
        return this.#end(top, 'object');
      case CLOSE_ARRAY:
        return this.#end(top, 'array');
      case COLON:
        if (top?.expect !== 'colon') throw unexpected(this.#text, start);
        top.expect = 'value';
        break;
      case COMMA:
        if (top?.expect !== 'after') throw unexpected(this.#text, start);
        top.expect = top.node.kind === 'object' ? 'key' : 'value';
        break;
      case QUOTE:
        return this.#takeString(top);
      default:
        return this.#takeWord(top);
    }
    this.#at = start + 1;
  }

  #begin(parent: Open | undefined, node: Deep): void {
    this.#put(parent, node);
    this.#open.push({ node, key: '', names: undefined, expect: 'first' });
    this.#at = node.end;
  }

  #end(top: Open | undefined, kind: Deep['kind']): void {
    if (top?.node.kind !== kind || (top.expect !== 'after' && top.expect !== 'first')) {
      throw unexpected(this.#text, this.#at);
    }
    this.#at++;
    top.node.end = this.#at;
    this.#open.pop();
  }

  #takeString(top: Open | undefined): void {
    const start = this.#at;
    const end = stringEnd(this.#text, start);
    if (end === undefined) throw unexpected(this.#text, start);
    this.#at = end;
    if (top?.node.kind === 'object' && (top.expect === 'key' || top.expect === 'first')) {
      top.key = nameOf(this.#text, start, end);
      top.expect = 'colon';
    } else this.#put(top, { kind: 'string', start, end });
  }

  #takeWord(top: Open | undefined): void {
    const text = this.#text;
    const start = this.#at;
    const word = WORDS.find(([name]) => text.startsWith(name, start));
    const end = word === undefined ? numberEnd(text, start) : start + word[0].length;
    if (end === undefined) throw unexpected(text, start);
    this.#put(top, { kind: word === undefined ? 'number' : word[1], start, end });
    this.#at = end;
  }

  /** Where a value may stand. */
  #put(parent: Open | undefined, node: JsonNode): void {
    if (parent === undefined) {
      if (this.#root !== undefined) throw new JsonSyntaxError('Unexpected value', node.start);
      this.#root = node;
      return;
    }
    const isFirst = parent.expect === 'first' && parent.node.kind === 'array';
    if (parent.expect !== 'value' && !isFirst) throw new JsonSyntaxError('Unexpected value', node.start);
    parent.expect = 'after';
    if (parent.node.kind === 'array') parent.node.items.push(node);
    else parent.node.members.push({ key: parent.key, value: node, duplicate: isNameKnown(parent, parent.node) });
  }
}

const WORDS = [
  ['true', 'boolean'],
  ['false', 'boolean'],
  ['null', 'null'],
] as const;

function unexpected(text: string, at: number): JsonSyntaxError {
  return new JsonSyntaxError(`Unexpected ${JSON.stringify(text[at])}`, at);
}

function spaceEnd(text: string, start: number): number {
  SPACES.lastIndex = start;
  return SPACES.test(text) ? SPACES.lastIndex : start;
}

/** Behind its closing quote; undefined: it is no text. */
function stringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return undefined;
    if (code !== BACKSLASH) continue;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return undefined;
    at = ESCAPE.lastIndex - 1;
  }
  return undefined;
}

function numberEnd(text: string, start: number): number | undefined {
  NUMBER.lastIndex = start;
  return NUMBER.test(text) ? NUMBER.lastIndex : undefined;
}

function nameOf(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? JSON.parse(text.slice(start, end)) : inner;
}

/** Whether the object that is read has a member of that name before; from now on it has. */
function isNameKnown(open: Open, { members }: JsonObjectNode): boolean {
  const { key } = open;
  if (members.length < NAMES_LOOKED_THROUGH_MAX) return members.some((member) => member.key === key);
  open.names ??= new Set(members.map((member) => member.key));
  const isKnown = open.names.has(key);
  open.names.add(key);
  return isKnown;
}

/** As it was written. */
export function sourceOf(text: string, node: JsonNode): string {
  return text.slice(node.start, node.end);
}

/** Laid out anew; every number and string stays as it was written. */
export function formatJsonSource(text: string, indent = '  '): string {
  return print(text, parseJsonSource(text), indent, '');
}

export function minifyJsonSource(text: string): string {
  return print(text, parseJsonSource(text), undefined, '');
}

function print(text: string, node: JsonNode, indent: string | undefined, before: string): string {
  if (node.kind !== 'object' && node.kind !== 'array') return sourceOf(text, node);
  const [head, tail] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
  const inner = indent === undefined ? '' : before + indent;
  const parts =
    node.kind === 'object'
      ? node.members.map(
          ({ key, value }) =>
            `${JSON.stringify(key)}:${indent === undefined ? '' : ' '}${print(text, value, indent, inner)}`,
        )
      : node.items.map((item) => print(text, item, indent, inner));
  if (parts.length === 0) return `${head}${tail}`;
  if (indent === undefined) return `${head}${parts.join(',')}${tail}`;
  return `${head}\n${parts.map((part) => `${inner}${part}`).join(',\n')}\n${before}${tail}`;
}

/** Keys that stand twice in one object, as paths (JSN-2). */
export function duplicateKeys(node: JsonNode, path = '$'): string[] {
  if (node.kind === 'array') return node.items.flatMap((item, at) => duplicateKeys(item, `${path}[${at}]`));
  if (node.kind !== 'object') return [];
  return node.members.flatMap(({ key, value, duplicate }) => {
    const own = `${path}${pathPart(key)}`;
    return [...(duplicate ? [own] : []), ...duplicateKeys(value, own)];
  });
}

/** `.name`, or `["odd name"]`. */
export function pathPart(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Line and column, from 1, of a place in a text. */
export function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return { line, column: at - before.lastIndexOf('\n') };
}

/** What is wrong with a text, and where; undefined for JSON and for no text at all. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    parseJsonSource(text);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown;
    const { line, column } = placeOf(text, thrown.at);
    return `${thrown.message} in line ${line}, column ${column}`;
  }
}
