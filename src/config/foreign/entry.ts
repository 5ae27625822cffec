// One entry of `workers` or `modules` while it is translated: its values, and the changes so far.

import { isMap, type Path } from '../../core/config-fields/fields-check.ts';
import type { Edit } from './edits.ts';

interface Change {
  readonly note: string;
  readonly isWarning?: boolean;
}

export class ForeignEntry {
  readonly path: Path;
  /** Its name here. */
  readonly name: string;
  readonly #value: unknown;
  readonly #written: unknown;
  readonly #edits: Edit[];
  isRemoved = false;

  /** Whether the engine answers as `iii` does. */
  readonly isDropIn: boolean;

  /** `written`: the entry as in the file, with placeholders. `edits` receives the changes. */
  constructor(entry: { path: Path; name: string; value: unknown; written: unknown; isDropIn: boolean }, edits: Edit[]) {
    this.isDropIn = entry.isDropIn;
    this.path = entry.path;
    this.name = entry.name;
    this.#value = entry.value;
    this.#written = entry.written;
    this.#edits = edits;
  }

  /** A setting below `config`, or `undefined`. */
  setting(...keys: readonly string[]): unknown {
    return at(this.#value, ['config', ...keys]);
  }

  /** The same as in the file, with placeholders. */
  written(...keys: readonly string[]): unknown {
    return at(this.#written, ['config', ...keys]);
  }

  has(...keys: readonly string[]): boolean {
    return this.setting(...keys) !== undefined;
  }

  /** Changes a setting below `config`; `undefined` removes it. */
  set(keys: readonly string[], value: unknown, change: Change): void {
    const path = [...this.path, 'config', ...keys];
    this.#add(value === undefined ? { path } : { path, value }, change);
  }

  /** Leaves out a setting below `config`, if it is there. */
  drop(keys: readonly string[], why: string): void {
    if (!this.has(...keys)) return;
    const note = `${keys.join('.')} has no effect: ${why}`;
    this.#add({ path: [...this.path, 'config', ...keys] }, { note, isWarning: true });
  }

  replace(value: unknown, change: Change): void {
    this.#add({ path: this.path, value }, change);
  }

  remove(change: Change): void {
    this.isRemoved = true;
    this.#add({ path: this.path }, change);
  }

  #add(edit: { path: Path; value?: unknown }, { note, isWarning = false }: Change): void {
    this.#edits.push({ ...edit, note, isWarning });
  }
}

export function at(value: unknown, keys: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of keys) {
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isMap(found) && Object.hasOwn(found, key)) found = found[key];
    else return undefined;
  }
  return found ?? undefined;
}
