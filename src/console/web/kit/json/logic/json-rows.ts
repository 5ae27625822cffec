// The rows of a JSON tree: the unfolded part as a flat list, for a windowed view (JSN-3, JSN-4). They are computed in
// steps, so that a value of millions of parts does not block the page, and without recursion, so that depth has no
// limit.

import { type JsonNode, pathPart } from './json-source.ts';

export interface JsonRow {
  readonly path: string;
  readonly depth: number;
  /** A name, an index in an array, or nothing for the root. */
  readonly label: string | number | undefined;
  readonly node: JsonNode;
  readonly duplicate: boolean;
  /** Undefined for values that cannot be unfolded. */
  readonly open: boolean | undefined;
  readonly count: number;
}

export interface JsonRowOptions {
  readonly isOpen: (path: string, depth: number) => boolean;
  /** In lower case. Only values that contain it are shown, with their ancestors. */
  readonly filter?: string;
  readonly text: string;
}

/** Browsers do not draw elements higher than about sixteen million pixels. */
export const JSON_ROWS_MAX = 250_000;

export interface JsonRows {
  readonly rows: readonly JsonRow[];
  /** There are more than `JSON_ROWS_MAX`. */
  readonly isCut: boolean;
}

/** Work in steps. The return value is the result. */
export type Steps<T> = Generator<undefined, T, undefined>;

export function jsonRows(root: JsonNode, options: JsonRowOptions): JsonRows {
  for (const steps = jsonRowSteps(root, options); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** How many parts are examined between two steps. */
const PARTS_A_STEP = 500;

type Child = Omit<JsonRow, 'open' | 'count'>;

/** Its index in an object or array whose rows are being computed. */
interface Level {
  readonly parent: Child;
  readonly size: number;
  next: number;
}

export function* jsonRowSteps(root: JsonNode, options: JsonRowOptions): Steps<JsonRows> {
  const rows: JsonRow[] = [];
  const kept = options.filter === undefined || options.filter === '' ? undefined : yield* matches(root, options);
  const levels: Level[] = [];
  const add = (at: Child): void => {
    if (kept !== undefined && !kept.has(at.node)) return;
    const size = sizeOf(at.node);
    const open = size === 0 ? undefined : kept !== undefined || options.isOpen(at.path, at.depth);
    rows.push({ ...at, open, count: size });
    if (open === true) levels.push({ parent: at, size, next: 0 });
  };
  add({ node: root, path: '$', depth: 0, label: undefined, duplicate: false });
  for (let parts = 1; ; parts++) {
    const level = levels.at(-1);
    if (level === undefined) return { rows, isCut: false };
    if (rows.length >= JSON_ROWS_MAX) return { rows, isCut: true };
    if (level.next === level.size) levels.pop();
    else add(childAt(level.parent, level.next++));
    if (parts % PARTS_A_STEP === 0) yield;
  }
}

function sizeOf(node: JsonNode): number {
  return node.kind === 'object' || node.kind === 'array' ? node.size : 0;
}

function childAt({ node, path, depth }: Child, at: number): Child {
  if (node.kind === 'object') {
    const member = node.members[at];
    if (member === undefined) throw new Error('An object has fewer members than it counted');
    const { key, value, duplicate } = member;
    return { node: value, path: path + pathPart(key), depth: depth + 1, label: key, duplicate };
  }
  const item = node.kind === 'array' ? node.items[at] : undefined;
  if (item === undefined) throw new Error('An array has fewer items than it counted');
  return { node: item, path: `${path}[${at}]`, depth: depth + 1, label: at, duplicate: false };
}

/** A part that is being searched. `isWhole`: its name matched, so all of it is shown. */
interface Looked {
  readonly node: JsonNode;
  readonly isWhole: boolean;
  hasMatch: boolean;
  next: number;
}

/** The nodes whose name or value contains the filter's text, with their ancestors and descendants. */
function* matches(root: JsonNode, { text, filter = '' }: JsonRowOptions): Steps<Set<JsonNode>> {
  const found = new Set<JsonNode>();
  const open: Looked[] = [{ node: root, isWhole: false, hasMatch: false, next: 0 }];
  for (let parts = 1; ; parts++) {
    const top = open.at(-1);
    if (top === undefined) return found;
    const { node } = top;
    const size = sizeOf(node);
    if (top.next < size) {
      const { key, value } = memberAt(node, top.next++);
      const isWhole = top.isWhole || key?.toLowerCase().includes(filter) === true;
      open.push({ node: value, isWhole, hasMatch: false, next: 0 });
    } else {
      open.pop();
      const isLeafMatch = size === 0 && text.slice(node.start, node.end).toLowerCase().includes(filter);
      if (top.isWhole || top.hasMatch || isLeafMatch) {
        found.add(node);
        const parent = open.at(-1);
        if (parent !== undefined) parent.hasMatch = true;
      }
    }
    if (parts % PARTS_A_STEP === 0) yield;
  }
}

function memberAt(node: JsonNode, at: number): { readonly key: string | undefined; readonly value: JsonNode } {
  const member =
    node.kind === 'object'
      ? node.members[at]
      : node.kind === 'array'
        ? { key: undefined, value: node.items[at] }
        : undefined;
  if (member?.value === undefined) throw new Error('A value has fewer parts than it counted');
  return { key: member.key, value: member.value };
}
