// The jobs of a queue, or its dead letters: filtered and paged by the server (QUE-2, QUE-3).

import { CircleCheck, RotateCcw, Trash2 } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import type { JobRow, QueueDetail } from '../../../api/queues.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { type ListState, useList } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { type ActiveFilter, EmptyState, FailedState, Loading, NoMatch } from '../../kit/feedback/empty-state.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Input, Select } from '../../kit/inputs/field.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Selection } from '../../kit/table/selection.ts';
import { Table } from '../../kit/table/table.tsx';
import { type AskBulk, BulkDialog } from './bulk.tsx';
import { DeadGroupList } from './dead-letters.tsx';
import { DEAD_COLUMNS, JOB_COLUMNS, stateWord } from './job-columns.tsx';
import { type BulkTarget, type BulkVerb, isFilterEmpty } from './logic/dead-letters.ts';
import { secretOf } from './logic/queue-state.ts';
import { JOB_STATES, jobFilterOf, NO_JOB_FILTER, QUEUES_SEARCH } from './search.ts';

interface JobListProps {
  readonly queue: QueueDetail;
  readonly isDead: boolean;
}

export function JobList({ queue, isDead }: JobListProps): ReactNode {
  const { search } = usePageSearch(QUEUES_SEARCH);
  const filter = jobFilterOf(search);
  const state = isDead ? 'dead' : search.state === 'all' ? undefined : search.state;
  const list = useList(['jobs', queue.name, state, filter], (page, signal) =>
    call('GET /queues/{queue}/jobs', {
      parts: { queue: queue.name },
      query: { ...page, ...filter, ...(state !== undefined && { state }) },
      signal,
    }),
  );
  const [asked, setAsked] = useState<{ verb: BulkVerb; target: BulkTarget }>();
  const ask = (verb: BulkVerb, target: BulkTarget): void => setAsked({ verb, target });
  const matching: BulkTarget = { kind: 'filter', filter, count: isFilterEmpty(filter) ? queue.dead : null };
  const isReadOnly = useReadOnly();
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <JobFilters queue={queue} isDead={isDead} />
        {isDead && !isReadOnly && queue.dead > 0 && <BulkButtons target={matching} ask={ask} />}
      </div>
      {isDead && queue.dead > 0 && <DeadGroupList queue={queue.name} ask={ask} />}
      <div className="min-h-0 flex-1">
        <Jobs
          list={list}
          isDead={isDead}
          ask={isReadOnly ? undefined : ask}
          matching={matching}
          count={jobsIn(queue, isDead)}
        />
      </div>
      {asked !== undefined && <BulkDialog queue={queue.name} {...asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

export function BulkButtons({ target, ask }: { readonly target: BulkTarget; readonly ask: AskBulk }): ReactNode {
  const what = target.kind === 'ids' ? 'chosen' : isFilterEmpty(target.filter) ? 'all' : 'all that match';
  return (
    <>
      <Button icon={<RotateCcw size={13} />} onClick={() => ask('redrive', target)}>
        Redrive {what}
      </Button>
      <Button icon={<Trash2 size={13} />} onClick={() => ask('purge', target)}>
        Purge {what}
      </Button>
    </>
  );
}

function JobFilters({ queue, isDead }: JobListProps): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  // The console's module searches dead letters itself.
  const narrow = isDead || search.q === '' ? undefined : secretOf(queue, 'payload_search');
  return (
    <FilterBar label={isDead ? 'Search dead letters' : 'Search jobs'} value={search.q} onChange={setQ}>
      {!isDead && (
        <Select
          aria-label="State"
          value={search.state}
          onChange={(event) => setSearch({ state: QUEUES_SEARCH.state.read([event.target.value]) ?? 'all' })}
        >
          <option value="all">any state</option>
          {JOB_STATES.map((state) => (
            <option key={state} value={state}>
              {stateWord(state)}
            </option>
          ))}
        </Select>
      )}
      <Typed label="Function" value={search.fn} className="w-44" onChange={(fn) => setSearch({ fn })} />
      {queue.message_group_field !== null && secretOf(queue, 'groups') === undefined && (
        <Typed label="Group" value={search.group} className="w-32" onChange={(group) => setSearch({ group })} />
      )}
      <Typed
        label="Attempts at least"
        value={String(search.attempts ?? '')}
        className="w-32"
        onChange={(text) => setSearch({ attempts: numberOf(text) })}
      />
      <Select
        aria-label="Enqueued"
        value={String(search.age ?? '')}
        onChange={(event) => setSearch({ age: numberOf(event.target.value) })}
      >
        <option value="">any age</option>
        <option value="60">older than 1 min</option>
        <option value="3600">older than 1 h</option>
        <option value="86400">older than 1 day</option>
      </Select>
      {narrow !== undefined && <span className="text-sm text-muted">{narrow}</span>}
    </FilterBar>
  );
}

/** Applied on blur or Enter, so that the server gets no half-typed text. */
function Typed({
  label,
  value,
  className,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly className: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  return (
    <Input
      key={value}
      aria-label={label}
      placeholder={label.toLowerCase()}
      defaultValue={value}
      className={className}
      onBlur={({ target }) => target.value !== value && onChange(target.value.trim())}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && onChange(currentTarget.value.trim())}
    />
  );
}

function numberOf(text: string): number | undefined {
  return text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
}

interface JobsProps {
  readonly list: ListState<JobRow>;
  readonly isDead: boolean;
  readonly ask: AskBulk | undefined;
  readonly matching: BulkTarget;
  /** Without any filter. */
  readonly count: number;
}

function Jobs({ list, isDead, ask, matching, count }: JobsProps): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const what = isDead ? 'dead letters' : 'jobs';
  if (list.items === undefined) {
    if (list.error === null) return <Loading what={`the ${what}`} />;
    return <FailedState error={list.error} what={isDead ? 'Dead letters' : 'Jobs'} shows={what} retry={list.refetch} />;
  }
  if (list.items.length === 0 && list.more === undefined) {
    const filters = activeFilters(search, isDead, setSearch);
    if (filters.length > 0) return <NoMatch what={what} total={count} filters={filters} />;
    return isDead ? (
      <EmptyState title="No dead letters" icon={<CircleCheck size={22} className="text-good" />}>
        <p>A job is listed here after its last attempt has failed. Here you can redrive or purge it.</p>
      </EmptyState>
    ) : (
      <EmptyState title="No jobs">
        <p>All jobs of this queue are done. Failed jobs are listed under Dead letters.</p>
      </EmptyState>
    );
  }
  const targetOf = (selection: Selection, rows: readonly JobRow[]): BulkTarget =>
    selection.all ? matching : { kind: 'ids', ids: rows.map(({ id }) => id) };
  return (
    <Table<JobRow>
      name={isDead ? 'dead-letters' : 'jobs'}
      label={isDead ? 'Dead letters' : 'Jobs'}
      columns={isDead ? DEAD_COLUMNS : JOB_COLUMNS}
      rows={list.items}
      keyOf={keyOf}
      openKey={search.id}
      onOpen={({ id }) => setSearch({ id }, { push: true })}
      selectable={isDead && ask !== undefined}
      {...(ask !== undefined && {
        selectionActions: (selection, rows) => <BulkButtons target={targetOf(selection, rows)} ask={ask} />,
      })}
      total={activeFilters(search, isDead, setSearch).length === 0 ? Math.max(count, list.items.length) : list.total}
      onNearEnd={list.more}
      foot={list.catchUp !== undefined && <Changed what={what} catchUp={list.catchUp} />}
    />
  );
}

function Changed({ what, catchUp }: { readonly what: string; readonly catchUp: () => void }): ReactNode {
  return (
    <span className="flex items-center gap-2">
      The {what} have changed since they were read.
      <Button look="ghost" onClick={catchUp}>
        Reload
      </Button>
    </span>
  );
}

function jobsIn(queue: QueueDetail, isDead: boolean): number {
  const { waiting, delayed, running, retrying, waiting_for_worker: parked, dead } = queue;
  return isDead ? dead : waiting + (delayed ?? 0) + running + (retrying ?? 0) + parked;
}

const keyOf = ({ id }: JobRow): string => id;

type Search = ReturnType<typeof usePageSearch<typeof QUEUES_SEARCH>>;

function activeFilters(search: Search['search'], isDead: boolean, setSearch: Search['setSearch']): ActiveFilter[] {
  const found: ActiveFilter[] = [];
  const add = (label: string, change: Parameters<Search['setSearch']>[0]): void => {
    found.push({ label, remove: () => setSearch(change) });
  };
  if (search.q !== '') add(`search: ${search.q}`, { q: NO_JOB_FILTER.q });
  if (!isDead && search.state !== 'all') add(`state: ${stateWord(search.state)}`, { state: 'all' });
  if (search.fn !== '') add(`function: ${visibleText(search.fn)}`, { fn: '' });
  if (search.group !== '') add(`group: ${visibleText(search.group)}`, { group: '' });
  if (search.attempts !== undefined) add(`attempts: ${search.attempts} or more`, { attempts: undefined });
  if (search.age !== undefined) add(`older than ${search.age} s`, { age: undefined });
  if (search.error !== '') add(`error: ${visibleText(search.error)}`, { error: '' });
  return found;
}
