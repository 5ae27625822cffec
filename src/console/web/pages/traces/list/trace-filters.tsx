// The filters of the trace list: a search, quick filters, a form for all, and a chip for each that is set (TRC-2).

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Eye, EyeOff, Plus, X } from 'lucide-react';
import { type FormEvent, type ReactNode, useCallback, useState } from 'react';
import { percentile } from '../../../../../core/telemetry/spans/trace-groups.ts';
import type { TraceFacets, TraceRow } from '../../../../api/telemetry.ts';
import { call } from '../../../data/api.ts';
import { Button } from '../../../kit/inputs/button.tsx';
import { Field, Select, SuggestInput } from '../../../kit/inputs/field.tsx';
import { FilterBar, Pill } from '../../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { Flyout } from '../../../kit/layout/overlays.tsx';
import {
  filterProblem,
  filterText,
  TRACE_FIELDS,
  type TraceField,
  type TraceFilter,
  traceFilter,
  withFilter,
} from '../logic/trace-filters.ts';

export interface TraceFiltersProps {
  readonly filters: readonly TraceFilter[];
  readonly setFilters: (filters: readonly TraceFilter[]) => void;
  /** The listed rows: "slow" is relative to them. */
  readonly rows: readonly TraceRow[];
  readonly children: ReactNode;
}

const TRACE_ID = /^[0-9a-f]{32}$/i;

export function TraceFilters(props: TraceFiltersProps): ReactNode {
  const { filters, setFilters, rows, children } = props;
  const navigate = useNavigate();
  const name = filters.find((filter) => filter.field === 'name');
  const setName = useCallback(
    (text: string) => {
      // A pasted id opens its trace.
      if (TRACE_ID.test(text.trim())) return void navigate({ to: `/traces/${text.trim().toLowerCase()}` });
      const others = filters.filter((filter) => filter.field !== 'name');
      setFilters(text === '' ? others : withFilter(filters, traceFilter('name', text)));
    },
    [filters, setFilters, navigate],
  );
  const toggle = (filter: TraceFilter): void => {
    const isOn = hasFilter(filters, filter);
    setFilters(isOn ? filters.filter((one) => !isSame(one, filter)) : withFilter(filters, filter));
  };
  const slowMs = slowFrom(rows);
  const slow = filters.find((filter) => filter.field === 'min' && !filter.isOff) ?? traceFilter('min', String(slowMs));
  const quick = [
    { label: 'Errors', filter: traceFilter('status', 'error') },
    { label: 'Slow', filter: slow },
    { label: 'Pending', filter: traceFilter('status', 'pending') },
    { label: 'Queued', filter: traceFilter('attr', 'process', { key: 'messaging.operation.type' }) },
  ];
  const ofFunction = filters.find((filter) => filter.field === 'function');
  return (
    <>
      <FilterBar label="Search span names" value={name?.value ?? ''} onChange={setName}>
        {quick.map(({ label, filter }) => (
          <Pill key={label} label={label} on={hasFilter(filters, filter)} onToggle={() => toggle(filter)} />
        ))}
        {ofFunction !== undefined && (
          <Pill
            label={`This function: ${visibleText(ofFunction.value)}`}
            on={!ofFunction.isOff}
            onToggle={() => setFilters(withFilter(filters, { ...ofFunction, isOff: !ofFunction.isOff }))}
          />
        )}
        <AddFilter {...props} />
        {children}
      </FilterBar>
      {filters.length > 0 && (
        <ul aria-label="Filters" className="flex basis-full flex-wrap gap-1.5">
          {filters.map((filter) => (
            <Chip
              key={`${filter.field} ${filter.key ?? ''} ${filter.value}`}
              filter={filter}
              {...{ filters, setFilters }}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function isSame(a: TraceFilter, b: TraceFilter): boolean {
  return a.field === b.field && a.value === b.value && a.key === b.key;
}

function hasFilter(filters: readonly TraceFilter[], wanted: TraceFilter): boolean {
  return filters.some((filter) => isSame(filter, wanted) && !filter.isOff);
}

/** The p95 of the listed traces, in three digits. */
function slowFrom(rows: readonly TraceRow[]): number {
  const sorted = rows.map((row) => row.duration_ms).sort((a, b) => a - b);
  return Number(percentile(sorted, 0.95).toPrecision(3));
}

function Chip({
  filter,
  filters,
  setFilters,
}: {
  readonly filter: TraceFilter;
  readonly filters: readonly TraceFilter[];
  readonly setFilters: (filters: readonly TraceFilter[]) => void;
}): ReactNode {
  const text = visibleText(filterText(filter));
  const problem = filterProblem(filter);
  const change = (next: TraceFilter | undefined): void =>
    setFilters(filters.flatMap((one) => (one !== filter ? [one] : next === undefined ? [] : [next])));
  return (
    <li
      className={`inline-flex h-6 max-w-full items-center gap-1 rounded-md border pl-2 text-sm ${
        problem !== undefined
          ? 'border-bad text-bad'
          : filter.isOff
            ? 'border-line text-faint'
            : 'border-line-strong bg-raised'
      }`}
      title={problem}
    >
      <span className={`truncate ${filter.isOff ? 'line-through' : ''}`}>{text}</span>
      {problem !== undefined && <span className="truncate text-xs">({problem})</span>}
      <button
        type="button"
        aria-pressed={filter.isOff}
        aria-label={`Switch filter off: ${text}`}
        title={filter.isOff ? 'Switch on' : 'Switch off'}
        className="rounded-sm p-1 text-faint hover:text-text"
        onClick={() => change({ ...filter, isOff: !filter.isOff })}
      >
        {filter.isOff ? <EyeOff size={12} /> : <Eye size={12} />}
      </button>
      <button
        type="button"
        aria-label={`Remove filter: ${text}`}
        className="rounded-sm p-1 text-faint hover:text-text"
        onClick={() => change(undefined)}
      >
        <X size={12} />
      </button>
    </li>
  );
}

const FIELD_NAMES: Readonly<Record<TraceField, string>> = {
  attr: 'Attribute',
  service: 'Service contains',
  name: 'Span name contains',
  status: 'Status',
  min: 'Duration at least (ms)',
  max: 'Duration at most (ms)',
  from: 'Started after',
  to: 'Started before',
  function: 'Function',
  trace: 'Trace id',
};

function AddFilter({ filters, setFilters }: TraceFiltersProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Flyout
      label="Add a filter"
      align="start"
      className="w-80"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={<Button icon={<Plus size={13} />}>Filter</Button>}
    >
      <FilterForm
        add={(filter) => {
          setFilters(withFilter(filters, filter));
          setOpen(false);
        }}
      />
    </Flyout>
  );
}

function FilterForm({ add }: { readonly add: (filter: TraceFilter) => void }): ReactNode {
  const [field, setField] = useState<TraceField>('attr');
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const [problem, setProblem] = useState<string>();
  const facets = useFacets();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const filter = field === 'attr' ? traceFilter('attr', value, { key }) : traceFilter(field, value);
    const found = field === 'attr' && key === '' ? 'the name is missing' : filterProblem(filter);
    setProblem(found);
    if (found === undefined) add(filter);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Field label="What">
        {(ids) => (
          <Select
            {...ids}
            value={field}
            onChange={(event) => setField(TRACE_FIELDS.find((one) => one === event.target.value) ?? 'attr')}
          >
            {Object.entries(FIELD_NAMES).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {field === 'attr' && (
        <Field label="Name">
          {(ids) => (
            <SuggestInput
              {...ids}
              options={facets?.attributes.map((one) => one.key) ?? []}
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Value" error={problem} hint={HINTS[field]}>
        {(ids) => (
          <SuggestInput
            {...ids}
            options={suggestions(facets, field, key)}
            value={value}
            aria-invalid={problem !== undefined}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" look="primary">
        Add filter
      </Button>
    </form>
  );
}

const HINTS: Partial<Readonly<Record<TraceField, string>>> = {
  from: 'now-15m, 2026-01-31T12:00Z or Unix milliseconds',
  to: 'now, 2026-01-31T12:00Z or Unix milliseconds',
  trace: '32 hexadecimal digits',
};

function useFacets(): TraceFacets | undefined {
  return useQuery({ queryKey: ['trace-facets'], queryFn: ({ signal }) => call('GET /traces/facets', { signal }) }).data;
}

function suggestions(facets: TraceFacets | undefined, field: TraceField, key: string): readonly string[] {
  if (field === 'status') return ['ok', 'error', 'pending'];
  if (facets === undefined) return [];
  if (field === 'service') return facets.services.map((one) => one.value);
  if (field === 'name') return facets.names.map((one) => one.value);
  if (field !== 'attr') return [];
  return facets.attributes.find((one) => one.key === key)?.values.map((one) => one.value) ?? [];
}
