// A change of a configuration file, and all of them applied to its value. The engine applies them when it reads a file
// of `iii`; `svc config convert` writes them into the file.

import { isMap, type Path } from '../../core/config-fields/fields-check.ts';

export interface Edit {
  readonly path: Path;
  /** Absent: the entry is removed. */
  readonly value?: unknown;
  /** What was changed, as a sentence. */
  readonly note: string;
  /** Whether the engine then does something else than `iii`, so that a start has to say it. */
  readonly isWarning: boolean;
}

/** In the place of a removed element of a list: the elements after it keep their places in the file. */
export const REMOVED: unique symbol = Symbol('removed');

/** A copy of the value with the changes. */
export function applyEdits(root: unknown, edits: readonly Edit[]): unknown {
  const copy = copyOf(root ?? {});
  for (const edit of edits) {
    const { path } = edit;
    const [last, parent] = [path.at(-1), containerOf(copy, path.slice(0, -1))];
    if (last === undefined || parent === undefined) continue;
    if (Array.isArray(parent)) parent[Number(last)] = Object.hasOwn(edit, 'value') ? edit.value : REMOVED;
    else if (Object.hasOwn(edit, 'value')) parent[last] = edit.value;
    else delete parent[last];
  }
  return copy;
}

type Container = Record<string, unknown> | unknown[];

/** Maps on the way are made, as a setting may be the first of its group. */
function containerOf(root: unknown, path: Path): Container | undefined {
  let found: unknown = root;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else if (isMap(found)) found = memberOf(found, String(step));
    else return undefined;
  }
  return Array.isArray(found) || isMap(found) ? found : undefined;
}

function memberOf(map: Record<string, unknown>, key: string): unknown {
  map[key] ??= key === 'workers' || key === 'modules' ? [] : Object.create(null);
  return map[key];
}

/** Maps have no prototype, so that no key of the file can reach one (X19). */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isMap(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) copy[key] = copyOf(member);
  return copy;
}
