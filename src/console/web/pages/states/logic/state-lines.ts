// A scope as JSON lines, and back (STA-6): one `{"key": …, "value": …}` per line. Values keep their text. Many entries
// are written or deleted a few at a time. Pure.

import { memberSource } from '../../../kit/json/logic/json-member.ts';
import { jsonProblem, parseJsonSource } from '../../../kit/json/logic/json-source.ts';

export interface StateLine {
  readonly key: string;
  readonly value: string;
}

export interface BadLine {
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

export interface ReadLines {
  readonly entries: readonly StateLine[];
  readonly bad: readonly BadLine[];
}

export function printStateLine({ key, value }: StateLine): string {
  return `{"key":${JSON.stringify(key)},"value":${value}}\n`;
}

/** Empty lines are skipped. Of two lines with one key the later one counts, and the earlier one is reported. */
export function readStateLines(text: string): ReadLines {
  const entries = new Map<string, { readonly value: string; readonly line: number }>();
  const bad: BadLine[] = [];
  for (const [at, source] of text.split(/\r?\n/).entries()) {
    if (source.trim() === '') continue;
    const line = at + 1;
    const read = readLine(source);
    if (typeof read === 'string') {
      bad.push({ line, problem: read });
      continue;
    }
    const before = entries.get(read.key);
    if (before !== undefined) bad.push({ line: before.line, problem: `the key occurs again in line ${line}` });
    entries.set(read.key, { value: read.value, line });
  }
  return {
    entries: [...entries].map(([key, { value }]) => ({ key, value })),
    bad: bad.sort((a, b) => a.line - b.line),
  };
}

function readLine(source: string): StateLine | string {
  const problem = jsonProblem(source);
  if (problem !== undefined) return problem;
  if (parseJsonSource(source).kind !== 'object') return 'an object with "key" and "value" is expected';
  const key: unknown = JSON.parse(memberSource(source, 'key') ?? 'null');
  const value = memberSource(source, 'value');
  if (typeof key !== 'string' || key === '') return '"key" must be a text that is not empty';
  if (value === undefined) return '"value" is missing';
  return { key, value };
}

export type ImportKind = 'new' | 'changed' | 'same';

/** What an import would do with each entry. `stored` holds the text of the values in the store. */
export function importPlan(
  entries: readonly StateLine[],
  stored: ReadonlyMap<string, string>,
): Readonly<Record<ImportKind, readonly StateLine[]>> {
  const plan: Record<ImportKind, StateLine[]> = { new: [], changed: [], same: [] };
  for (const entry of entries) {
    const now = stored.get(entry.key);
    plan[now === undefined ? 'new' : now === entry.value ? 'same' : 'changed'].push(entry);
  }
  return plan;
}

const AT_ONCE = 6;

/** Continues after failures, and returns them. Calls `onProgress` with the number of finished items. */
export async function eachOf<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  onProgress: (done: number) => void = () => {},
): Promise<unknown[]> {
  const failures: unknown[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      try {
        await act(items[at] as T);
      } catch (thrown) {
        failures.push(thrown);
      }
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return failures;
}
