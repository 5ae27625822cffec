// Groups dead letters by their error: errors that differ only in digits and ids are one kind of failure (QUE-3).

import type { DeadRow } from './shapes.ts';

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** Ids of databases and traces: long, hexadecimal, and not a word. */
const HEX = /\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi;
const DIGITS = /\d+/g;

export function foldError(error: string): string {
  return error.replace(UUID, '<id>').replace(HEX, '<id>').replace(DIGITS, '<n>');
}

/** Whether a text matches an error: a part of it, or of the common form of its kind. */
export function isErrorMeant(error: string, text: string): boolean {
  return error.includes(text) || foldError(error).includes(text);
}

export interface ErrorGroup {
  /** What the errors of the group have in common. */
  readonly error: string;
  /** The newest of them, unchanged. */
  readonly example: string;
  readonly newest_id: string;
  readonly count: number;
  /** Unix seconds. */
  readonly first_failed_at: number;
  readonly last_failed_at: number;
}

export class ErrorGroups {
  readonly #groups = new Map<string, ErrorGroup>();
  rows = 0;

  add({ id, error, failed_at: at }: DeadRow): void {
    this.rows++;
    const key = foldError(error);
    const group = this.#groups.get(key);
    if (group === undefined) {
      this.#groups.set(key, {
        error: key,
        example: error,
        newest_id: id,
        count: 1,
        first_failed_at: at,
        last_failed_at: at,
      });
      return;
    }
    const first = Math.min(group.first_failed_at, at);
    const isNewest = at > group.last_failed_at;
    const newest = isNewest ? { example: error, newest_id: id, last_failed_at: at } : {};
    this.#groups.set(key, { ...group, ...newest, count: group.count + 1, first_failed_at: first });
  }

  get largestFirst(): ErrorGroup[] {
    return [...this.#groups.values()].sort((one, other) => other.count - one.count);
  }
}
