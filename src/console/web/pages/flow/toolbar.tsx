// The controls for what the flow shows, and how (FLO-4).

import { Download, RotateCcw } from 'lucide-react';
import { type ReactNode, useCallback } from 'react';
import type { SearchValues } from '../../data/search.ts';
import { Button } from '../../kit/inputs/button.tsx';
import { Segments, Select } from '../../kit/inputs/field.tsx';
import { FilterBar, Pill } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { flipIn } from '../../kit/table/selection.ts';
import { FLOW_KINDS } from './logic/flow-view.ts';
import type { FLOW_SEARCH } from './search.ts';

type FlowSearch = SearchValues<typeof FLOW_SEARCH>;

interface ToolbarProps {
  readonly search: FlowSearch;
  readonly setSearch: (change: Partial<FlowSearch>) => void;
  readonly focusLabel: string | undefined;
  /** How many nodes match the text; undefined: no search. */
  readonly found: number | undefined;
}

const HOPS = [
  { value: '1', label: '1 hop' },
  { value: '2', label: '2 hops' },
  { value: 'all', label: 'All' },
] as const;

export function FlowToolbar({ search, setSearch, focusLabel, found }: ToolbarProps): ReactNode {
  const { q, group, hide, hops } = search;
  const setQ = useCallback((text: string) => setSearch({ q: text }), [setSearch]);
  return (
    <FilterBar label="Search the flow" value={q} onChange={setQ}>
      {found !== undefined && (
        <span role="status" className="text-sm text-muted">
          {found === 0 ? 'not found' : `${found} found`}
        </span>
      )}
      {FLOW_KINDS.map((kind) => (
        <Pill
          key={kind}
          label={`${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`}
          on={!hide.includes(kind)}
          onToggle={() => setSearch({ hide: flipIn(hide, kind) })}
        />
      ))}
      <Select
        aria-label="Group by"
        value={group}
        onChange={({ target }) =>
          setSearch({ group: target.value as FlowSearch['group'], toggled: [], focus: undefined })
        }
      >
        <option value="none">No groups</option>
        <option value="namespace">By namespace</option>
        <option value="worker">By worker</option>
      </Select>
      {focusLabel !== undefined && (
        <>
          <Pill label={`Around ${visibleText(focusLabel)}`} on onToggle={() => setSearch({ focus: undefined })} />
          <Segments label="How far" value={hops} choices={HOPS} onChange={(to) => setSearch({ hops: to })} />
        </>
      )}
    </FilterBar>
  );
}

interface ActionsProps {
  readonly isMoved: boolean;
  readonly reset: () => void;
  readonly exportSvg: () => void;
}

export function FlowActions({ isMoved, reset, exportSvg }: ActionsProps): ReactNode {
  return (
    <>
      <Button
        icon={<RotateCcw size={13} />}
        disabled={!isMoved}
        title={isMoved ? 'Back to the automatic layout' : 'Nothing was moved by hand'}
        onClick={reset}
      >
        Reset layout
      </Button>
      <Button icon={<Download size={13} />} onClick={exportSvg}>
        SVG
      </Button>
    </>
  );
}
