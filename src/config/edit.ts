// Changes of a configuration file that keep everything else as its owner wrote it: comments, order, spacing. The text
// is cut and spliced at the places that the parser reports; nothing is printed again.

import { isScalar, isSeq, isMap as isYamlMap, LineCounter, type Node, stringify, type YAMLSeq } from 'yaml';
import type { NewEntry } from '../core/workers/worker-manifest.ts';
import { composeYaml } from './yaml-syntax.ts';

const STEP = '  ';

/** The text with one more entry under `workers`. The text must be one that the loader accepts. */
export function addWorkerEntry(text: string, entry: NewEntry): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const list = workersOf(text);
  if (list === undefined) {
    const gap = text === '' || text.endsWith('\n') ? '' : newline;
    const blank = text === '' ? '' : newline;
    return `${text}${gap}${blank}workers:${newline}${blockEntry(entry, STEP, newline)}`;
  }
  const [start, end] = rangeOf(list);
  if (isSeq(list) && list.items.length > 0) {
    if (list.flow) return splice(text, end - 1, end - 1, `, ${flowEntry(entry)}`);
    const indent = text.slice(lineStart(text, start), start);
    const at = lineEnd(text, contentEnd(text, list));
    const gap = text[at - 1] === '\n' ? '' : newline;
    return splice(text, at, at, gap + blockEntry(entry, indent, newline));
  }
  // An empty list, or nothing after the colon.
  const from = text.lastIndexOf(':', start) + 1;
  return splice(text, from, end, `${newline}${blockEntry(entry, STEP, newline).trimEnd()}`);
}

/** The text without the entry of that name and the comment lines right above it; `undefined`: there is none. */
export function removeWorkerEntry(text: string, name: string): string | undefined {
  const list = workersOf(text);
  if (!isSeq(list)) return undefined;
  const index = list.items.findIndex((item) => isYamlMap(item) && item.get('name') === name);
  const item = list.items[index];
  if (!isNode(item)) return undefined;
  const [listStart, listEnd] = rangeOf(list);
  if (list.items.length === 1) {
    if (list.flow) return splice(text, listStart, listEnd, '[]');
    const from = text.lastIndexOf(':', listStart) + 1;
    return splice(text, from, lineEnd(text, contentEnd(text, list)), ` []${text.includes('\r\n') ? '\r\n' : '\n'}`);
  }
  if (list.flow) return withoutFlowItem(text, list, index);
  const from = commentAbove(text, lineStart(text, rangeOf(item)[0]));
  return splice(text, from, lineEnd(text, contentEnd(text, item)), '');
}

function workersOf(text: string): Node | undefined {
  const composed = composeYaml(text, new LineCounter());
  if (!composed.ok) throw new Error('A configuration that was loaded cannot be read again');
  if (!isYamlMap(composed.root)) return undefined;
  const pair = composed.root.items.find(({ key }) => isScalar(key) && key.value === 'workers');
  return isNode(pair?.value) ? pair.value : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'range' in value;
}

function rangeOf(node: Node): readonly [start: number, end: number] {
  const { range } = node;
  if (range == null) throw new Error('A parsed node has a range');
  return [range[0], range[1]];
}

function blockEntry(entry: NewEntry, indent: string, newline: string): string {
  const lines = stringify(entry).trimEnd().split('\n');
  return lines.map((line, index) => `${indent}${index === 0 ? '- ' : STEP}${line}${newline}`).join('');
}

function flowEntry(entry: NewEntry): string {
  return stringify(entry, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}

function withoutFlowItem(text: string, list: YAMLSeq, index: number): string {
  const [, before] = index > 0 ? rangeOfItem(list, index - 1) : [0, 0];
  const [from, to] = rangeOfItem(list, index);
  if (index > 0) return splice(text, before, to, '');
  return splice(text, from, rangeOfItem(list, 1)[0], '');
}

function rangeOfItem(list: YAMLSeq, index: number): readonly [start: number, end: number] {
  const item = list.items[index];
  if (!isNode(item)) throw new Error('A parsed list has nodes');
  return rangeOf(item);
}

/** The end of the last content inside; a block's own range may include the blank lines and comments that follow. */
function contentEnd(text: string, node: Node): number {
  let [, end] = rangeOf(node);
  while (end > 0 && /\s/.test(text[end - 1] ?? '')) end--;
  return end;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** After the end of the line, with its comment. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

/** Comment lines without a blank line between belong to the entry below them. */
function commentAbove(text: string, start: number): number {
  let from = start;
  while (from > 0) {
    const above = lineStart(text, from - 1);
    if (!text.slice(above, from).trimStart().startsWith('#')) break;
    from = above;
  }
  return from;
}

function splice(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}
