// The entries of `rbac.expose_functions`: which functions the connections of a port may call (wire 8.4, modules 9.3).
// An entry is `match("api::*")` on the id, or `{metadata: {key: value}}` on what a function was registered with.

import { type Pattern, readPattern } from './pattern.ts';

export type ExposeFilter =
  | { readonly kind: 'id'; readonly pattern: Pattern }
  /** All of them must match. */
  | { readonly kind: 'metadata'; readonly wanted: readonly WantedMember[] };

interface WantedMember {
  readonly key: string;
  readonly holds: (value: unknown) => boolean;
}

/** An entry of the configuration, after its shape was checked. */
export type ExposeEntry = string | ExposeMap;

export interface ExposeMap {
  readonly match?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly namespace?: string | undefined;
}

type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

export function readExposeEntry(entry: ExposeEntry): Read<ExposeFilter> {
  return typeof entry === 'string' ? readText(entry) : readMap(entry);
}

/** Whether a function is exposed by the filter. If an id has several registrations, all of them must match. */
export function exposes(filter: ExposeFilter, functionId: string, metadata: readonly unknown[]): boolean {
  if (filter.kind === 'metadata') return metadata.length > 0 && metadata.every((one) => hasAll(one, filter.wanted));
  // `*` matches functions of users only; the engine's functions must be named (X8).
  const isMeant = !functionId.startsWith(ENGINE) || filter.pattern.text.startsWith(ENGINE);
  return isMeant && filter.pattern.matches(functionId);
}

const ENGINE = 'engine::';

function readText(text: string): Read<ExposeFilter> {
  const inside = insideOfMatch(text);
  return inside === undefined
    ? refuse(`Must be match("…"); for one function write match("${text}")`)
    : idFilter(inside);
}

function readMap({ match, metadata, namespace }: ExposeMap): Read<ExposeFilter> {
  if (namespace !== undefined && namespace !== 'default') {
    return refuse(`There is no namespace '${namespace}'; this version has 'default' only`);
  }
  if ((match === undefined) === (metadata === undefined)) return refuse("Give either 'match' or 'metadata'");
  return match === undefined ? metadataFilter(metadata ?? {}) : idFilter(match);
}

function idFilter(pattern: string): Read<ExposeFilter> {
  const read = readPattern(pattern);
  return read.ok ? { ok: true, value: { kind: 'id', pattern: read.pattern } } : refuse(`The pattern ${read.reason}`);
}

function metadataFilter(metadata: Readonly<Record<string, unknown>>): Read<ExposeFilter> {
  const wanted: WantedMember[] = [];
  for (const [key, value] of Object.entries(metadata)) {
    const pattern = typeof value === 'string' ? insideOfMatch(value) : undefined;
    if (pattern === undefined) {
      wanted.push({ key, holds: (found) => isSameJson(found, value) });
      continue;
    }
    const read = readPattern(pattern);
    if (!read.ok) return refuse(`The pattern for '${key}' ${read.reason}`);
    wanted.push({ key, holds: (found) => typeof found === 'string' && read.pattern.matches(found) });
  }
  // A filter without a condition would expose everything.
  if (wanted.length === 0) return refuse('metadata must name at least one key');
  return { ok: true, value: { kind: 'metadata', wanted } };
}

/** The text in `match("…")` or `match('…')`; `undefined` if the text is not of that form. */
function insideOfMatch(text: string): string | undefined {
  const call = text.trim();
  if (!call.startsWith('match(') || !call.endsWith(')')) return undefined;
  const quoted = call.slice('match('.length, -1).trim();
  const mark = quoted[0];
  if ((mark !== '"' && mark !== "'") || quoted.length < 2 || !quoted.endsWith(mark)) return undefined;
  const inside = quoted.slice(1, -1);
  return inside.includes(mark) ? undefined : inside;
}

function hasAll(metadata: unknown, wanted: readonly WantedMember[]): boolean {
  if (!isRecord(metadata)) return false;
  return wanted.every(({ key, holds }) => Object.hasOwn(metadata, key) && holds(metadata[key]));
}

function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
  }
  if (!isRecord(one) || !isRecord(other)) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameJson(one[key], other[key]))
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
