// JSON parsed with its source kept (JSN-2): every number, key order, duplicate key and escape can be shown as it is
// stored. Strings are decoded for display; `sourceOf` returns any value as it was written.
//
// The text is walked without recursion, so depth has no limit.

import { nameOf, numberEnd, spaceEnd, stringEnd, wordAt } from './json-tokens.ts';

export type JsonNode = JsonLeaf | JsonObjectNode | JsonArrayNode;

export interface JsonLeaf {
  readonly kind: 'string' | 'number' | 'boolean' | 'null';
  /** Where its text is: from its first character to after the last. */
  readonly start: number;
  readonly end: number;
}

export interface JsonMember {
  readonly key: string;
  readonly value: JsonNode;
  readonly duplicate: boolean;
}

/** An object or array with its text, from which its parts can be read again after they were dropped. */
abstract class DeepNode<Part> {
  readonly start: number;
  end: number;
  /** How many parts it has. */
  size = 0;
  readonly #text: string;
  #parts: Part[] | undefined = [];

  constructor(text: string, start: number) {
    this.#text = text;
    this.start = start;
    this.end = start + 1;
  }

  add(part: Part): void {
    this.parts.push(part);
    this.size++;
  }

  forgetParts(): void {
    this.#parts = undefined;
  }

  protected get parts(): Part[] {
    this.#parts ??= this.partsOf(readWhole(new JsonReader(this.#text, { from: this.start, to: this.end })));
    return this.#parts;
  }

  protected abstract partsOf(again: JsonNode): Part[];
}

export class JsonObjectNode extends DeepNode<JsonMember> {
  readonly kind = 'object';

  get members(): readonly JsonMember[] {
    return this.parts;
  }

  protected partsOf(again: JsonNode): JsonMember[] {
    return again.kind === 'object' ? again.parts : [];
  }
}

export class JsonArrayNode extends DeepNode<JsonNode> {
  readonly kind = 'array';

  get items(): readonly JsonNode[] {
    return this.parts;
  }

  protected partsOf(again: JsonNode): JsonNode[] {
    return again.kind === 'array' ? again.parts : [];
  }
}

export class JsonSyntaxError extends Error {
  /** The position of the first invalid character. */
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const [TAB, LINE_FEED, RETURN, SPACE, QUOTE, COMMA, COLON] = [9, 10, 13, 32, 34, 44, 58];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Up to this many names are searched one by one. */
const NAMES_LOOKED_THROUGH_MAX = 8;

type Deep = JsonObjectNode | JsonArrayNode;

interface Open {
  readonly node: Deep;
  key: string;
  /** For an object with many members. */
  names: Set<string> | undefined;
  /** What may come next. */
  expect: 'first' | 'value' | 'key' | 'colon' | 'after';
}

/** Throws `JsonSyntaxError` where the text is not JSON. */
export function parseJsonSource(text: string): JsonNode {
  return readWhole(new JsonReader(text));
}

function readWhole(reader: JsonReader): JsonNode {
  reader.read(Number.POSITIVE_INFINITY);
  return reader.root;
}

interface ReadOptions {
  /** Where it is in the text: from its first character to after the last. */
  readonly from?: number;
  readonly to?: number;
  /** In a long text few values are ever opened: short ones are kept without their parts. */
  readonly isSparing?: boolean;
}

/** Up to this size, dropped parts are read again without a noticeable delay. */
const FORGOTTEN_CHARS_MAX = 4_096;

/** Reads a text in as many steps as its owner chooses. */
export class JsonReader {
  readonly #text: string;
  readonly #to: number;
  readonly #isSparing: boolean;
  readonly #open: Open[] = [];
  #at: number;
  #root: JsonNode | undefined;

  constructor(text: string, { from = 0, to = text.length, isSparing = false }: ReadOptions = {}) {
    this.#text = text;
    this.#at = from;
    this.#to = to;
    this.#isSparing = isSparing;
  }

  /** Call it after everything was read. */
  get root(): JsonNode {
    if (this.#root === undefined || this.#open.length > 0) {
      throw new JsonSyntaxError('The text ends too early', this.#text.length);
    }
    return this.#root;
  }

  /** Reads that many tokens more. Returns whether there are more. */
  read(tokens: number): boolean {
    for (let read = 0; read < tokens && this.#at < this.#to; read++) this.#take();
    return this.#at < this.#to;
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
        return this.#begin(top, new JsonObjectNode(this.#text, start));
      case OPEN_ARRAY:
        return this.#begin(top, new JsonArrayNode(this.#text, start));
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
    if (this.#isSparing && this.#at - top.node.start <= FORGOTTEN_CHARS_MAX) top.node.forgetParts();
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
    const word = wordAt(text, start);
    const end = word === undefined ? numberEnd(text, start) : start + word.chars;
    if (end === undefined) throw unexpected(text, start);
    this.#put(top, { kind: word?.kind ?? 'number', start, end });
    this.#at = end;
  }

  /** Where a value is allowed. */
  #put(parent: Open | undefined, node: JsonNode): void {
    if (parent === undefined) {
      if (this.#root !== undefined) throw new JsonSyntaxError('Unexpected value', node.start);
      this.#root = node;
      return;
    }
    const isFirst = parent.expect === 'first' && parent.node.kind === 'array';
    if (parent.expect !== 'value' && !isFirst) throw new JsonSyntaxError('Unexpected value', node.start);
    parent.expect = 'after';
    if (parent.node.kind === 'array') parent.node.add(node);
    else parent.node.add({ key: parent.key, value: node, duplicate: isNameKnown(parent, parent.node) });
  }
}

function unexpected(text: string, at: number): JsonSyntaxError {
  return new JsonSyntaxError(`Unexpected ${JSON.stringify(text[at])}`, at);
}

/** Whether the current object already has a member of that name. Records the name. */
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

/** Keys that occur twice in one object, as paths (JSN-2). */
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

/** Line and column, from 1, of a position in a text. */
export function placeOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return { line, column: at - before.lastIndexOf('\n') };
}

/** What is wrong with a text, and where. Undefined for valid JSON and for an empty text. */
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
