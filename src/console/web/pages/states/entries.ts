// Entries of the state store with their values as they are stored, digit by digit, and the keys of a scope: read in
// pages, and kept up to date by the live changes (STA-2, STA-4).

import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { StateChange } from '../../../api/live.ts';
import type { StateItem, StateRow } from '../../../api/states.ts';
import { ApiError, call, callText } from '../../data/api.ts';
import { type ListState, refetchSoon, useList } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { nestedSource, takeMember } from '../../kit/json/logic/json-member.ts';
import type { StatesSearch } from './search.ts';

export interface StoredEntry {
  readonly facts: Omit<StateItem, 'value'>;
  readonly text: string;
}

export async function readEntry(scope: string, key: string, signal?: AbortSignal): Promise<StoredEntry> {
  const { text } = await callText('GET /states/{scope}/items/{key}', {
    parts: { scope, key },
    ...(signal !== undefined && { signal }),
  });
  return storedOf(text);
}

export function storedOf(text: string): StoredEntry {
  const { source = 'null', rest } = takeMember(text, 'value');
  const { value: _value, ...facts }: StateItem = JSON.parse(rest);
  return { facts, text: source };
}

export type SaveCondition = { readonly if_version: string } | { readonly if_absent: true } | undefined;

export async function writeEntry(
  scope: string,
  key: string,
  valueText: string,
  condition: SaveCondition,
): Promise<StoredEntry> {
  const rest = condition === undefined ? '' : `,${JSON.stringify(condition).slice(1, -1)}`;
  const { text } = await callText('PUT /states/{scope}/items/{key}', {
    parts: { scope, key },
    text: `{"value":${valueText}${rest}}`,
  });
  return storedOf(text);
}

/** The current entry, from a refused save. Undefined for every other failure, `null` when it was deleted. */
export function conflictOf(error: unknown): { readonly current: StoredEntry | null } | undefined {
  if (!(error instanceof ApiError) || error.code !== 'CONFLICT') return undefined;
  const current = nestedSource(error.exchange.responseText, ['error', 'details', 'current']);
  return { current: current === undefined || current === 'null' ? null : storedOf(current) };
}

export function useEntry(scope: string, key: string) {
  return useQuery({
    queryKey: ['state', scope, key],
    queryFn: ({ signal }) => readEntry(scope, key, signal),
  });
}

export interface EntryRow extends StateRow {
  /** How often it changed while it was shown. A row flashes once for each change. */
  readonly changes: number;
}

/** The engine's maximum. The list reads more while it is scrolled. */
const PAGE_ROWS = 1_000;
/** A longer list is not read again for a change: its changed rows are read one by one. */
const REREAD_ROWS_MAX = 2_000;
const ROWS_READ_AT_ONCE = 20;

interface Seen {
  readonly atMs: number;
  readonly changes: number;
  readonly row?: StateRow;
  readonly isGone: boolean;
}

export function useEntries(scope: string, { q, at }: Pick<StatesSearch, 'q' | 'at'>): ListState<EntryRow> {
  const key = ['states', scope, q, at];
  const list = useList(key, (page, signal) =>
    call('GET /states/{scope}/items', {
      parts: { scope },
      query: { ...page, limit: PAGE_ROWS, ...(at === 'start' ? { prefix: q } : { q }) },
      signal,
    }),
  );
  const [seen, setSeen] = useState<ReadonlyMap<string, Seen>>(new Map());
  const loaded = useRef(list.items);
  loaded.current = list.items;
  useLive(`state:${encodeURIComponent(scope)}`, {
    items(given) {
      const changes = given as readonly StateChange[];
      setSeen((now) => withChanges(now, changes));
      if ((loaded.current?.length ?? 0) <= REREAD_ROWS_MAX) return refetchSoon(['states', scope]);
      void readRows(scope, changes, loaded.current ?? []).then((rows) => setSeen((now) => withRows(now, rows)));
    },
    back: () => refetchSoon(['states', scope]),
  });
  const items = useMemo(() => list.items?.flatMap((row) => itemRow(row, seen.get(row.key))), [list.items, seen]);
  return { ...list, items };
}

function withChanges(now: ReadonlyMap<string, Seen>, changes: readonly StateChange[]): ReadonlyMap<string, Seen> {
  const next = new Map(now);
  for (const { key, at, change } of changes) {
    next.set(key, { atMs: at, changes: (next.get(key)?.changes ?? 0) + 1, isGone: change === 'deleted' });
  }
  return next;
}

function withRows(now: ReadonlyMap<string, Seen>, rows: readonly StateRow[]): ReadonlyMap<string, Seen> {
  const next = new Map(now);
  for (const row of rows) {
    const before = next.get(row.key);
    if (before !== undefined) next.set(row.key, { ...before, row });
  }
  return next;
}

/** Of a long list only the loaded part. The first key with this key as its beginning is the key itself. */
async function readRows(
  scope: string,
  changes: readonly StateChange[],
  loaded: readonly StateRow[],
): Promise<readonly StateRow[]> {
  const known = new Set(loaded.map(({ key }) => key));
  const keys = [...new Set(changes.map(({ key }) => key))].filter((key) => known.has(key)).slice(0, ROWS_READ_AT_ONCE);
  const answers = await Promise.allSettled(
    keys.map((prefix) => call('GET /states/{scope}/items', { parts: { scope }, query: { prefix, limit: 1 } })),
  );
  return answers
    .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.items : []))
    .filter(({ key }) => keys.includes(key));
}

function itemRow(row: StateRow, seen: Seen | undefined): EntryRow[] {
  if (seen === undefined) return [{ ...row, changes: 0 }];
  if (seen.isGone) return [];
  return [{ ...(seen.row ?? row), updated_at: seen.atMs, changes: seen.changes }];
}
