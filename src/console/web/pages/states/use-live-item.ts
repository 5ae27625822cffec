// An open entry: its stored value, read again whenever it changes, and its earlier values (STA-4).

import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { StateChange } from '../../../../console-api/live.ts';
import { isNotFound } from '../../data/api.ts';
import { useLive } from '../../data/use-live.ts';
import { type ValueChange, withChange } from './logic/value-changes.ts';
import { type StoredItem, useItem } from './values.ts';

export interface LiveItemState {
  /** As it is, or as it was before it was deleted. */
  readonly item: StoredItem | undefined;
  readonly isGone: boolean;
  readonly error: unknown;
  /** Oldest first. */
  readonly changes: readonly ValueChange[];
  readonly refetch: () => void;
}

export function useLiveItem(scope: string, key: string): LiveItemState {
  const client = useQueryClient();
  const query = useItem(scope, key);
  const { data, error } = query;
  const isGone = isNotFound(error);
  const refetch = (): void => void client.invalidateQueries({ queryKey: ['state', scope, key] });
  const told = useRef({ writes: 0, atMs: 0 });
  useLive(
    `state:${encodeURIComponent(scope)}`,
    {
      items(items) {
        const { writes } = told.current;
        const last = items.at(-1) as StateChange | undefined;
        told.current = { writes: writes + items.length, atMs: last?.at ?? Date.now() };
        refetch();
      },
      back: refetch,
    },
    { filter: { key } },
  );
  const [changes, setChanges] = useState<readonly ValueChange[]>([]);
  const before = useRef<{ readonly text: string | undefined } | undefined>(undefined);
  const text = data === undefined || isGone ? undefined : data.text;
  const isRead = data !== undefined || isGone;
  useEffect(() => {
    if (!isRead) return;
    const { current: known } = before;
    before.current = { text };
    if (known === undefined) return;
    const { writes, atMs } = told.current;
    told.current = { writes: 0, atMs: 0 };
    const change: ValueChange = {
      atMs: atMs === 0 ? Date.now() : atMs,
      before: known.text,
      after: text,
      writes: Math.max(1, writes),
    };
    setChanges((now) => withChange(now, change));
  }, [text, isRead]);
  return { item: data, isGone, error, changes, refetch };
}
