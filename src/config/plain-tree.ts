// From the syntax tree to a plain value that knows where each of its entries lies. Maps have no prototype, so
// that no key of the file can reach one (X19).

import { isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { type Path, quote } from '../core/config-fields/fields-check.ts';
import type { EntrySpans, Span } from './problem.ts';
import { NESTING_MAX, TOO_DEEP } from './yaml-syntax.ts';

export interface PlainTree {
  readonly value: unknown;
  readonly problems: readonly TreeProblem[];
  readonly warnings: readonly TreeProblem[];
  /** The entry at a path, or the nearest one above it. */
  find(path: Path): { readonly entry: Entry; readonly isExact: boolean };
}

export interface Entry extends EntrySpans {
  /** Written in quotes or as a block: text, whatever it looks like. */
  readonly isQuoted: boolean;
  readonly value: unknown;
}

export interface TreeProblem {
  readonly path: Path;
  readonly spans: EntrySpans;
  readonly message: string;
}

export function plainTree(rootNode: ParsedNode | null): PlainTree {
  const building: Building = { entries: new Map(), problems: [], warnings: [] };
  const root = entryOf(rootNode, undefined, [], building);
  const find = (path: Path) => {
    let entry = root;
    for (const step of path) {
      const next = isContainer(entry.value) ? building.entries.get(entry.value)?.get(step) : undefined;
      if (next === undefined) return { entry, isExact: false };
      entry = next;
    }
    return { entry, isExact: true };
  };
  const { problems, warnings } = building;
  return { value: root.value, problems, warnings, find };
}

interface Building {
  /** The entries of each map and list, by the container built for it. */
  readonly entries: Map<object, ReadonlyMap<string | number, Entry>>;
  readonly problems: TreeProblem[];
  readonly warnings: TreeProblem[];
}

function entryOf(node: ParsedNode | null, key: Span | undefined, path: Path, building: Building): Entry {
  const [start = 0, end = start] = node?.range ?? [key?.end];
  const content = { start, end };
  if (isMap(node) || isSeq(node)) {
    const spans = { key, content, isScalar: false };
    if (path.length < NESTING_MAX) {
      const value = isMap(node) ? plainMap(node, path, building) : plainList(node, path, building);
      return { ...spans, isQuoted: false, value };
    }
    building.problems.push({ path, spans: spans, message: TOO_DEEP });
  }
  const value = isScalar(node) ? node.value : null;
  const isQuoted = isScalar(node) && node.type !== 'PLAIN';
  const entry = { key, content, isScalar: true, isQuoted, value };
  if (!isQuoted && isFlagElsewhere(value)) {
    const message = `${quote(value)} is text here, and a flag to older YAML. Write true or false, or put it in quotes.`;
    building.warnings.push({ path, spans: entry, message });
  }
  return entry;
}

function plainList(node: YAMLSeq.Parsed, path: Path, building: Building): unknown[] {
  const entries = new Map(
    node.items.map((item, index) => [index, entryOf(item, undefined, [...path, index], building)]),
  );
  const list = [...entries.values()].map(({ value }) => value);
  building.entries.set(list, entries);
  return list;
}

function plainMap(node: YAMLMap.Parsed, path: Path, building: Building): Record<string, unknown> {
  const map: Record<string, unknown> = Object.create(null);
  const entries = new Map<string, Entry>();
  for (const pair of node.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : '';
    const [start, end] = pair.key.range;
    const entryPath = [...path, name];
    const entry = entryOf(pair.value, { start, end }, entryPath, building);
    const refuse = (message: string) => building.problems.push({ path: entryPath, spans: entry, message });
    if (entries.has(name)) refuse(`The key ${quote(name)} occurs here a second time.`);
    if (isMergeKey(pair.key)) refuse("Merge keys ('<<') are not allowed. Write the keys out.");
    entries.set(name, entry);
    map[name] = entry.value;
  }
  building.entries.set(map, entries);
  return map;
}

/** Words that YAML 1.1 reads as flags: a person who writes `no` may mean either. */
function isFlagElsewhere(value: unknown): value is string {
  return typeof value === 'string' && /^(y|yes|n|no|on|off)$/i.test(value);
}

function isMergeKey(key: ParsedNode): key is Scalar.Parsed {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
