// The monitor: the live messages of the selected streams (STR-1, STR-2, STR-4, STR-5).

import { useQuery } from '@tanstack/react-query';
import { Eraser, Pause, Play, Plus, X } from 'lucide-react';
import { type FormEvent, type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { usePageSearch } from '../../data/search.ts';
import { formatCount, formatCountOf } from '../../kit/charts/times.ts';
import { EmptyState, NoMatch, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Announce } from '../../kit/feedback/live-changes.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Segments, Select, SuggestInput, Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Page } from '../../kit/layout/page.tsx';
import { flip } from '../../kit/table/selection.ts';
import { Table } from '../../kit/table/table.tsx';
import { MessagePanel, MONITOR_COLUMNS } from './monitor-messages.tsx';
import { BUFFERS, STREAM_EXAMPLE, STREAMS_SEARCH } from './search.ts';
import { FAST_PER_S, foldFast, type MonitorLine } from './stream-messages.ts';
import { type MonitorState, useMonitor } from './use-monitor.ts';

const DIRECTIONS = [
  { value: 'all', label: 'All' },
  { value: 'inbound', label: 'Inbound' },
  { value: 'outbound', label: 'Outbound' },
] as const;

export function Monitor({ tabs }: { readonly tabs: ReactNode }): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const filter = useMemo(
    () => ({ direction: search.dir, subs: search.sub, q: search.q }),
    [search.dir, search.sub, search.q],
  );
  const monitor = useMonitor(filter, Number(search.buffer), search.system);
  const toggle = monitor.isPaused ? monitor.resume : monitor.pause;
  useKeys([{ keys: ['p'], name: 'Pause or resume', run: toggle }]);
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  const open = monitor.lines.find((line) => line.kind === 'message' && line.id === search.msg);
  return (
    <Page
      title="Streams"
      note={<Counts monitor={monitor} />}
      actions={
        <>
          <Button icon={monitor.isPaused ? <Play size={13} /> : <Pause size={13} />} onClick={toggle}>
            {monitor.isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Button icon={<Eraser size={13} />} onClick={monitor.clear}>
            Clear
          </Button>
          {tabs}
        </>
      }
      toolbar={
        <FilterBar label="Search messages" value={search.q} onChange={setQ}>
          <Segments label="Direction" value={search.dir} choices={DIRECTIONS} onChange={(dir) => setSearch({ dir })} />
          <Toggle label="System" checked={search.system} onChange={(system) => setSearch({ system })} />
          <Select
            aria-label="Buffer size"
            value={search.buffer}
            onChange={({ target }) => setSearch({ buffer: STREAMS_SEARCH.buffer.read([target.value]) ?? '5000' })}
          >
            {BUFFERS.toSorted((a, b) => Number(a) - Number(b)).map((size) => (
              <option key={size} value={size}>
                keep last {formatCount(Number(size))}
              </option>
            ))}
          </Select>
          <Subscriptions />
        </FilterBar>
      }
      detail={
        open?.kind === 'message' ? (
          <MessagePanel message={open} taps={monitor.taps} onClose={() => setSearch({ msg: undefined })} />
        ) : undefined
      }
    >
      <Messages monitor={monitor} />
    </Page>
  );
}

function Counts({ monitor }: { readonly monitor: MonitorState }): ReactNode {
  const { counts, buffered, rates } = monitor;
  const perSecond = [...rates.values()].reduce((sum, rate) => sum + rate, 0);
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-1 tabular-nums">
      {(
        [
          ['total', counts.total],
          ['inbound', counts.inbound],
          ['outbound', counts.outbound],
          ['in the buffer', buffered],
          ['in the last second', perSecond],
        ] as const
      ).map(([label, count]) => (
        <div key={label} className="flex flex-row-reverse gap-1">
          <dt className="text-muted">{label}</dt>
          <dd className="font-medium text-text">{formatCount(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The selected streams. None selected means all of them. */
function Subscriptions(): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const known = useQuery({
    queryKey: ['streams', 'names', search.system],
    queryFn: ({ signal }) => call('GET /streams', { query: { limit: 1_000, system: search.system }, signal }),
  });
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const sub = text.trim();
    if (sub === '') field.current?.focus();
    else if (!search.sub.includes(sub)) setSearch({ sub: [...search.sub, sub] });
    setText('');
  };
  return (
    <form aria-label="Subscriptions" onSubmit={add} className="flex flex-wrap items-center gap-1">
      {search.sub.map((sub) => (
        <Button
          key={sub}
          aria-label={`Leave ${visibleText(sub)}`}
          icon={<X size={13} />}
          onClick={() => setSearch({ sub: search.sub.filter((one) => one !== sub) })}
        >
          {visibleText(sub)}
        </Button>
      ))}
      <SuggestInput
        ref={field}
        aria-label="Stream, or stream/group, to see"
        placeholder={search.sub.length === 0 ? 'all streams' : 'stream or stream/group'}
        title="Enter a stream, or stream/group, to see only its messages"
        options={known.data?.items.map(({ name }) => name) ?? []}
        value={text}
        onChange={({ target }) => setText(target.value)}
        className="w-44"
      />
      <Button type="submit" icon={<Plus size={13} />}>
        Follow
      </Button>
    </form>
  );
}

function Messages({ monitor }: { readonly monitor: MonitorState }): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => {
    const fast = new Set([...monitor.rates].flatMap(([stream, rate]) => (rate > FAST_PER_S ? [stream] : [])));
    return foldFast(monitor.lines, fast, opened);
  }, [monitor.lines, monitor.rates, opened]);
  if (monitor.refusal !== undefined) {
    return <EmptyState title={monitor.refusal.code}>{visibleText(monitor.refusal.message)}</EmptyState>;
  }
  if (lines.length === 0) {
    const filters = [
      ...(search.q === '' ? [] : [{ label: `search: ${search.q}`, remove: () => setSearch({ q: '' }) }]),
      ...(search.dir === 'all' ? [] : [{ label: search.dir, remove: () => setSearch({ dir: 'all' }) }]),
      ...search.sub.map((sub) => ({
        label: `stream: ${sub}`,
        remove: () => setSearch({ sub: search.sub.filter((one) => one !== sub) }),
      })),
    ];
    if (monitor.buffered > 0 && filters.length > 0) {
      return <NoMatch what="messages" total={monitor.buffered} filters={filters} />;
    }
    return (
      <EmptyState title={monitor.isPaused ? 'Paused' : 'Listening'}>
        <p>Messages appear here as the stream server sends and receives them. Create one:</p>
        <Snippet text={STREAM_EXAMPLE} label="command" />
      </EmptyState>
    );
  }
  const toggle = (stream: string): void => setOpened(flip(opened, stream));
  return (
    <Table<MonitorLine>
      name="stream-messages"
      label="Messages"
      columns={MONITOR_COLUMNS}
      rows={lines}
      keyOf={keyOf}
      fullRow={(line) => fullRow(line, toggle)}
      openKey={search.msg}
      onOpen={(line) => {
        if (line.kind === 'message') setSearch({ msg: line.id });
        if (line.kind === 'fast') toggle(line.stream);
      }}
      foot={<Held monitor={monitor} />}
    />
  );
}

const keyOf = ({ id }: MonitorLine): string => id;

function fullRow(line: MonitorLine, toggle: (stream: string) => void): ReactNode | undefined {
  if (line.kind === 'gap') {
    return (
      <span className="block text-center text-sm text-warn">
        {line.dropped === undefined
          ? 'The live connection was lost here; messages may be missing'
          : `${formatCountOf(line.dropped, 'message')} left out here: more arrived than this page can show`}
      </span>
    );
  }
  if (line.kind !== 'fast') return undefined;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={line.open}
      onClick={() => toggle(line.stream)}
      className="flex h-full w-full items-center gap-2 px-3 text-left text-accent"
    >
      <span className="font-mono">{visibleText(line.stream)}</span>
      {formatCount(line.count)} messages, too quick to read: {line.open ? 'hide them' : 'show them'}
    </button>
  );
}

function Held({ monitor }: { readonly monitor: MonitorState }): ReactNode {
  if (!monitor.isPaused) return undefined;
  return (
    <span className="flex items-center gap-2 text-accent">
      Paused: +{formatCount(monitor.waiting)} new
      <Announce text={`Paused: ${formatCount(monitor.waiting)} new`} />
      {monitor.dropped > 0 && <span className="text-warn">{formatCount(monitor.dropped)} dropped while paused</span>}
      <Button look="ghost" onClick={monitor.resume}>
        Resume
      </Button>
    </span>
  );
}
