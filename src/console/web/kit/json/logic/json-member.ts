// Parts and layouts of JSON text that leave every number and string as it was written (JSN-2). A part of an answer is
// found by skipping the rest: several megabytes in a few milliseconds. The text must be JSON, as answers of the engine
// are.

import { type JsonNode, parseJsonSource, sourceOf } from './json-source.ts';

/** The member of that name. Of several the last, as every reader takes it. */
export function memberSource(text: string, name: string): string | undefined {
  const found = placeOfMember(text, name);
  return found === undefined ? undefined : text.slice(found.start, found.end);
}

export interface TakenMember {
  readonly source: string | undefined;
  /** The object with `null` in place of the member. */
  readonly rest: string;
}

/** The member, and the rest of the object: the rest is parsed without reading a long value. */
export function takeMember(text: string, name: string): TakenMember {
  const found = placeOfMember(text, name);
  if (found === undefined) return { source: undefined, rest: text };
  const { start, end } = found;
  return { source: text.slice(start, end), rest: `${text.slice(0, start)}null${text.slice(end)}` };
}

function placeOfMember(text: string, name: string): { readonly start: number; readonly end: number } | undefined {
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return undefined;
  let found: { readonly start: number; readonly end: number } | undefined;
  for (at = skipSpace(text, at + 1); text[at] === '"'; ) {
    const keyEnd = skipString(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    if (key === name) found = { start, end };
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

/** The same, through several objects. */
export function nestedSource(text: string, names: readonly string[]): string | undefined {
  let source: string | undefined = text;
  for (const name of names) source = source === undefined ? undefined : memberSource(source, name);
  return source;
}

const SPACE = /[ \t\r\n]*/y;
const PLAIN = /[^\s,\]}]*/y;
const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [34, 92, 123, 125, 91, 93];

function skipSpace(text: string, at: number): number {
  return skip(SPACE, text, at);
}

function skip(what: RegExp, text: string, at: number): number {
  what.lastIndex = at;
  what.test(text);
  return what.lastIndex;
}

/** The position after its closing quote. */
function skipString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return skipString(text, start);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return skip(PLAIN, text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return at + 1;
  }
  return text.length;
}

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
