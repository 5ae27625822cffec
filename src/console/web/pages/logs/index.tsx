// The Logs page: the log records of every part of the system, newest first. They are those that the server found, and
// those that arrive while the page is open (LOG-6). Gaps of the live connection keep their place among them (LIV-5).

import { Pause, Play } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { LogRow, LogSearch } from '../../../api/telemetry.ts';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { type ListState, useList } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { type LiveItem, useCatchUp, useLiveFeed } from '../../data/use-live.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, NoMatch, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Waiting } from '../../kit/feedback/live-changes.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { RangeNote, TimeRangeControl } from '../../kit/inputs/time-range.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { flip } from '../../kit/table/selection.ts';
import { Histogram } from './histogram.tsx';
import { LogActions } from './log-actions.tsx';
import { LogDetail } from './log-detail.tsx';
import { LogList } from './log-list.tsx';
import { LogToolbar } from './log-toolbar.tsx';
import { parseLogQuery, wordsToMark } from './logic/log-query.ts';
import { hiddenCount, isGap, type LogListEntry, logListRows } from './logic/log-rows.ts';
import { activeLogFilters, LOGS_SEARCH, liveLogFilter, logQuestion } from './logs-search.ts';

export default function Logs(): ReactNode {
  const { search, setSearch } = usePageSearch(LOGS_SEARCH);
  const hold = useHold(search.id);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const question = useQuestion(search);
  const logs = useLogs(question, search.around === undefined ? search.order : 'desc', hold.isHeld);
  const entries = logs.entries;
  const rows = useMemo(
    () => logListRows(entries ?? [], { isGrouped: search.group, open, hidden }),
    [entries, search.group, open, hidden],
  );
  const markedWords = useMarkedWords(search);
  const release = (): void => {
    hold.letGo();
    logs.release();
    document.querySelector('[data-list]')?.scrollTo({ top: 0 });
  };
  const hideLike = (messageKey: string): void => setHidden((now) => new Set(now).add(messageKey));
  const selected = entries?.find((entry) => entry.id === search.id);
  return (
    <Page
      title="Logs"
      note={logs.list.total === null ? undefined : formatCount(logs.list.total)}
      actions={
        <>
          <TimeRangeControl />
          <LiveSwitch isLive={logs.isLive} isPaused={hold.isPaused} setPaused={hold.setPaused} />
          <LogActions question={question} search={search} onCleared={logs.list.refetch} />
        </>
      }
      toolbar={
        <LogToolbar
          {...{ search, setSearch }}
          hiddenMessages={hidden.size}
          hiddenRecords={hiddenCount(entries ?? [], hidden)}
          unhide={() => setHidden(new Set())}
        />
      }
      detail={
        selected !== undefined && 'body' in selected ? (
          <LogDetail log={selected} {...{ search, setSearch }} hideLike={hideLike} />
        ) : undefined
      }
    >
      <div className="relative flex h-full min-h-0 flex-col">
        <RangeNote kind="logs" startMs={question.start_time} list={logs.list} />
        {hasTimes(rows, search) && <Histogram question={question} {...{ search, setSearch }} />}
        <div className="relative min-h-0 flex-1">
          <Waiting count={logs.waitingCount} dropped={logs.droppedCount} release={release} />
          {entries === undefined ? (
            <NotYet {...logs.list} />
          ) : rows.length === 0 ? (
            <Nothing {...{ search, setSearch }} />
          ) : (
            <LogList
              rows={rows}
              {...{ search, setSearch, markedWords }}
              total={logs.list.total}
              more={logs.list.more}
              onScrolled={hold.setScrolled}
              onToggleGroup={(group) => setOpen((now) => flip(now, group))}
            />
          )}
        </div>
      </div>
    </Page>
  );
}

/**
 * While the page is paused or scrolled, or a record is open, the list does not move: rows stay where they are read
 * (LIV-3).
 */
function useHold(openId: string | undefined) {
  const [isPaused, setPaused] = useState(false);
  const [isScrolled, setScrolled] = useState(false);
  const [isReading, setReading] = useState(false);
  useEffect(() => setReading(openId !== undefined), [openId]);
  const letGo = (): void => {
    setPaused(false);
    setScrolled(false);
    setReading(false);
  };
  return { isPaused, setPaused, setScrolled, letGo, isHeld: isPaused || isScrolled || isReading };
}

type LogsSearch = ReturnType<typeof usePageSearch<typeof LOGS_SEARCH>>['search'];

/** A relative time is resolved once for each change: a query that changed every second would never settle. */
function useQuestion(search: LogsSearch): LogSearch {
  const { sev, svc, q, trace, span, from, to, around } = search;
  const key = JSON.stringify([sev, svc, q, trace, span, from, to, around]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` holds what the question depends on
  return useMemo(() => logQuestion(search, Date.now()), [key]);
}

/** Without records, and without a filter that may be the reason, a histogram would be an empty frame. */
function hasTimes(rows: readonly unknown[], search: LogsSearch): boolean {
  return search.around === undefined && (rows.length > 0 || activeLogFilters(search).length > 0);
}

/** The words of the query and those that are only highlighted (LOG-6). */
function useMarkedWords({ q, mark }: LogsSearch): readonly string[] {
  return useMemo(() => [q, mark].flatMap((text) => wordsToMark(parseLogQuery(text))), [q, mark]);
}

interface LiveSwitchProps {
  readonly isLive: boolean;
  readonly isPaused: boolean;
  readonly setPaused: (isPaused: boolean) => void;
}

function LiveSwitch({ isLive, isPaused, setPaused }: LiveSwitchProps): ReactNode {
  useKeys([{ keys: ['p'], name: 'Pause or resume live', run: () => setPaused(!isPaused) }]);
  if (!isLive) return <span className="text-sm text-muted">Not live with this order or range</span>;
  return (
    <Button
      aria-pressed={isPaused}
      title="p"
      icon={isPaused ? <Play size={13} /> : <Pause size={13} />}
      onClick={() => setPaused(!isPaused)}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  );
}

function NotYet({ error, refetch }: ReturnType<typeof useLogs>['list']): ReactNode {
  if (error === null) return <Loading what="the logs" />;
  return <FailedState error={error} what="Logs" shows="the log records of every part of the system" retry={refetch} />;
}

function Nothing({ search, setSearch }: ReturnType<typeof usePageSearch<typeof LOGS_SEARCH>>): ReactNode {
  const filters = activeLogFilters(search);
  if (filters.length > 0) {
    return (
      <NoMatch
        what="logs"
        total={(signal) => call('POST /logs/search', { body: { limit: 1 }, signal })}
        filters={filters.map(({ label, removed }) => ({ label, remove: () => setSearch(removed) }))}
      />
    );
  }
  return (
    <EmptyState title="No logs yet">
      <p>Records appear here as soon as a worker or the engine logs. Write one:</p>
      <Snippet text={`svc trigger engine::log::info message='hello'`} label="command" />
    </EmptyState>
  );
}

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

function useLogs(question: LogSearch, order: 'asc' | 'desc', isHeld: boolean): LogRows {
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
