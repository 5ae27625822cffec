// The records of the Logs page: those that the server found, and those that arrive while the page is open (LOG-6). Gaps
// of the live connection keep their place among them (LIV-5).

import { useEffect, useMemo, useRef, useState } from 'react';
import type { LogRow, LogSearch } from '../../../../console-api/telemetry.ts';
import { call } from '../../data/api.ts';
import { type ListState, useList } from '../../data/queries.ts';
import { type LiveItem, useCatchUp, useLiveFeed } from '../../data/use-live.ts';
import { isGap, type LogListEntry } from './logic/log-rows.ts';
import { liveLogFilter } from './logs-search.ts';

export interface LogRows {
  readonly list: ListState<LogRow>;
  /** Newest first, or in the requested order. */
  readonly entries: readonly LogListEntry[] | undefined;
  readonly isLive: boolean;
  readonly waitingCount: number;
  readonly droppedCount: number;
  readonly release: () => void;
  readonly clear: () => void;
}

/** Kept while the view is held. More arrive with the next query. */
const RING_RECORDS = 20_000;

export function useLogs(question: LogSearch, order: 'asc' | 'desc', isHeld: boolean): LogRows {
  const list = useList(['logs', question, order], (page, signal) =>
    call('POST /logs/search', { body: { ...question, ...page, order }, signal }),
  );
  const filter = liveLogFilter(question);
  const isLive = filter !== undefined && order === 'desc';
  const feed = useLiveFeed<LogRow>('logs', { limit: RING_RECORDS, filter: filter ?? {}, enabled: isLive });
  const key = JSON.stringify([question, order]);
  const { ring } = feed;
  useCatchUp(key, isLive, list.refetch);
  // Live records up to this number are shown. While the view is held, the number does not change.
  const [shownTo, setShownTo] = useState(0);
  const cleared = useRef(feed.clear);
  cleared.current = feed.clear;
  useEffect(() => {
    if (key === '') return;
    cleared.current();
    setShownTo(0);
  }, [key]);
  const to = isHeld ? Math.min(shownTo, ring.total) : ring.total;
  useEffect(() => {
    if (!isHeld && ring.total !== shownTo) setShownTo(ring.total);
  }, [isHeld, ring.total, shownTo]);
  const { severities } = question;
  const known = useMemo(() => new Set(list.items?.map((log) => log.id)), [list.items]);
  const entries = useMemo(() => {
    if (list.items === undefined) return undefined;
    // `version` signals that the ring changed. Its items are read from the ring.
    const live = feed.version < 0 ? [] : ring.from(0, to);
    const found: LogListEntry[] = [];
    for (let at = live.length - 1; at >= 0; at--) {
      const entry = entryOf(live[at], at, severities);
      if (entry !== undefined && (isGap(entry) || !known.has(entry.id))) found.push(entry);
    }
    return [...found, ...list.items];
  }, [list.items, known, ring, to, feed.version, severities]);
  return {
    list,
    entries,
    isLive,
    waitingCount: ring.total - to,
    droppedCount: Math.max(0, ring.first - to),
    release: () => setShownTo(ring.total),
    clear: feed.clear,
  };
}

/** Several severities are not a minimum: the topic cannot filter them, so they are filtered here. */
function entryOf(
  item: LiveItem<LogRow> | undefined,
  at: number,
  severities: readonly string[] | undefined,
): LogListEntry | undefined {
  if (item === undefined) return undefined;
  if (item.kind === 'gap') return { id: `gap ${item.atMs} ${at}`, dropped: item.dropped };
  return severities === undefined || severities.includes(item.value.severity_text) ? item.value : undefined;
}
