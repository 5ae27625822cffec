// The toolbar of the logs: the query box with its chips and its help, severities, order, wrapping, grouping (LOG-2,
// LOG-4, LOG-5).

import { CircleHelp, Eye, EyeOff, X } from 'lucide-react';
import { type ReactNode, useCallback } from 'react';
import type { SearchState } from '../../data/search.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { Input, Toggle } from '../../kit/inputs/field.tsx';
import { FilterBar, Pill } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Flyout } from '../../kit/layout/overlays.tsx';
import { flipIn } from '../../kit/table/selection.ts';
import { keyed, SEVERITIES } from './log-text.tsx';
import { type LogTerm, parseLogQuery, termText } from './logic/log-query.ts';
import { AROUND_ROWS, type LOGS_SEARCH } from './logs-search.ts';

export interface LogToolbarProps extends SearchState<typeof LOGS_SEARCH> {
  readonly hiddenMessages: number;
  readonly hiddenRecords: number;
  readonly unhide: () => void;
}

export function LogToolbar(props: LogToolbarProps): ReactNode {
  const { search, setSearch } = props;
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  if (search.around !== undefined) return <AroundBar {...props} />;
  return (
    <>
      <FilterBar label="Search logs" value={search.q} onChange={setQ}>
        <QueryHelp />
        {SEVERITIES.map((word) => (
          <Pill
            key={word}
            label={word}
            on={search.sev.includes(word)}
            onToggle={() => setSearch({ sev: flipIn(search.sev, word) })}
          />
        ))}
        <Toggle label="Wrap" checked={search.wrap} onChange={(wrap) => setSearch({ wrap })} />
        <Toggle label="Group similar" checked={search.group} onChange={(group) => setSearch({ group })} />
        <Toggle
          label="Oldest first"
          checked={search.order === 'asc'}
          onChange={(on) => setSearch({ order: on ? 'asc' : 'desc' })}
        />
        <Input
          aria-label="Highlight without filtering"
          placeholder="Highlight…"
          className="w-32"
          value={search.mark}
          onChange={(event) => setSearch({ mark: event.target.value })}
        />
      </FilterBar>
      <Chips {...props} />
    </>
  );
}

function AroundBar({ setSearch }: LogToolbarProps): ReactNode {
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm">
      <span>{AROUND_ROWS} records before and after the chosen one, without filters.</span>
      <Button onClick={() => setSearch({ around: undefined }, { push: true })}>Back to the filtered logs</Button>
    </div>
  );
}

function Chips({ search, setSearch, ...hidden }: LogToolbarProps): ReactNode {
  const on = parseLogQuery(search.q);
  const off = parseLogQuery(search.off);
  const simple: (readonly [label: string, value: string, removed: Parameters<LogToolbarProps['setSearch']>[0]])[] = [
    ['service', search.svc, { svc: '' }],
    ['trace', search.trace, { trace: '' }],
    ['span', search.span, { span: '' }],
    ['from', momentText(search.from), { from: '' }],
    ['until', momentText(search.to), { to: '' }],
  ];
  const set = simple.filter(([, value]) => value !== '');
  if (on.length + off.length + set.length + search.cols.length + hidden.hiddenMessages === 0) return undefined;
  const without = (terms: readonly LogTerm[], taken: LogTerm): string =>
    terms
      .filter((term) => term !== taken)
      .map(termText)
      .join(' ');
  const joined = (text: string, term: LogTerm): string => (text === '' ? termText(term) : `${text} ${termText(term)}`);
  return (
    <ul aria-label="Filters" className="flex basis-full flex-wrap gap-1.5">
      {keyed(on).map(({ key, item: term }) => (
        <Chip
          key={`on ${key}`}
          text={termText(term)}
          problem={term.problem}
          toggle={() => setSearch({ q: without(on, term), off: joined(search.off, term) })}
          remove={() => setSearch({ q: without(on, term) })}
        />
      ))}
      {keyed(off).map(({ key, item: term }) => (
        <Chip
          key={`off ${key}`}
          text={termText(term)}
          isOff
          toggle={() => setSearch({ off: without(off, term), q: joined(search.q, term) })}
          remove={() => setSearch({ off: without(off, term) })}
        />
      ))}
      {set.map(([label, value, removed]) => (
        <Chip key={label} text={`${label}: ${value}`} remove={() => setSearch(removed)} />
      ))}
      {search.cols.map((key) => (
        <Chip
          key={`column ${key}`}
          text={`column ${key}`}
          remove={() => setSearch({ cols: search.cols.filter((one) => one !== key) })}
        />
      ))}
      {hidden.hiddenMessages > 0 && (
        <Chip text={hiddenText(hidden.hiddenMessages, hidden.hiddenRecords)} remove={hidden.unhide} />
      )}
    </ul>
  );
}

function hiddenText(messages: number, records: number): string {
  return `${messages} hidden ${messages === 1 ? 'message' : 'messages'} (${formatCount(records)} records)`;
}

function momentText(text: string): string {
  return /^\d{10,}$/.test(text) ? `${new Date(Number(text)).toISOString().replace('T', ' ').slice(0, 23)} UTC` : text;
}

function Chip({
  text,
  problem,
  isOff = false,
  toggle,
  remove,
}: {
  readonly text: string;
  readonly problem?: string | undefined;
  readonly isOff?: boolean;
  readonly toggle?: () => void;
  readonly remove: () => void;
}): ReactNode {
  const shown = visibleText(text);
  const look =
    problem !== undefined ? 'border-bad text-bad' : isOff ? 'border-line text-faint' : 'border-line-strong bg-raised';
  return (
    <li className={`inline-flex h-6 max-w-full items-center gap-1 rounded-md border pl-2 text-sm ${look}`}>
      <span className={`truncate font-mono ${isOff ? 'line-through' : ''}`}>{shown}</span>
      {problem !== undefined && <span className="truncate text-xs">({problem})</span>}
      {toggle !== undefined && (
        <button
          type="button"
          aria-pressed={isOff}
          aria-label={`Switch filter off: ${shown}`}
          title={isOff ? 'Switch on' : 'Switch off'}
          className="rounded-sm p-1 text-faint hover:text-text"
          onClick={toggle}
        >
          {isOff ? <EyeOff size={12} /> : <Eye size={12} />}
        </button>
      )}
      <button
        type="button"
        aria-label={`Remove filter: ${shown}`}
        className="rounded-sm p-1 text-faint hover:text-text"
        onClick={remove}
      >
        <X size={12} />
      </button>
    </li>
  );
}

const HELP: readonly (readonly [example: string, meaning: string])[] = [
  ['card declined', 'both words, anywhere'],
  ['"card declined"', 'exactly this phrase'],
  ['-health', 'without this word'],
  ['service:billing', 'from services whose name contains billing'],
  ['function=orders::create', 'written by that function'],
  ['severity>=warn', 'warnings and errors'],
  ['attr.order.id=o-81', 'with this attribute'],
  ['/time(d)? ?out/i', 'a regular expression over the message'],
];

function QueryHelp(): ReactNode {
  return (
    <Flyout
      label="How to search"
      align="start"
      trigger={
        <IconButton label="Help with searching">
          <CircleHelp size={15} />
        </IconButton>
      }
    >
      <dl className="grid grid-cols-[auto_auto] gap-x-4 gap-y-1">
        {HELP.map(([example, meaning]) => (
          <div key={example} className="contents">
            <dt className="font-mono">{example}</dt>
            <dd className="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-2 text-muted">All parts must match. Each part becomes a chip that can be switched off.</p>
    </Flyout>
  );
}
