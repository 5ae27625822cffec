// The States page: scopes, the keys of one, and the value of one (STA-1 to STA-7).

import { Plus } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useReadOnly } from '../../data/connection.ts';
import { usePageSearch } from '../../data/search.ts';
import { EmptyState } from '../../kit/feedback/empty-state.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Segments, Select } from '../../kit/inputs/field.tsx';
import { FilterBar } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Page } from '../../kit/layout/page.tsx';
import { AddEntryDialog } from './entry-dialogs.tsx';
import { EntryPanel } from './entry-panel.tsx';
import { KeyTable } from './key-table.tsx';
import { NoScopes, ScopeList, useScopes } from './scope-list.tsx';
import { ScopeMenu } from './scope-menu.tsx';
import { SEPARATORS, STATES_SEARCH } from './search.ts';

const PLACES = [
  { value: 'anywhere', label: 'anywhere' },
  { value: 'start', label: 'at the start' },
] as const;

export default function States(): ReactNode {
  const { search, setSearch } = usePageSearch(STATES_SEARCH);
  const { scope, key } = search;
  const setQ = useCallback((q: string) => setSearch({ q }), [setSearch]);
  const scopes = useScopes();
  const hasNone = scopes.items === undefined ? scopes.error !== null : scopes.items.length === 0;
  return (
    <Page
      title="States"
      note={scope === undefined ? undefined : <span className="font-mono">{visibleText(scope)}</span>}
      actions={<PageActions scope={scope} />}
      toolbar={
        scope === undefined ? undefined : (
          <FilterBar label="Search keys" value={search.q} onChange={setQ}>
            <Segments
              label="Where in the key"
              value={search.at}
              choices={PLACES}
              onChange={(at) => setSearch({ at })}
            />
            <Select
              aria-label="View"
              value={search.view}
              onChange={(event) => setSearch({ view: STATES_SEARCH.view.read([event.target.value]) ?? 'list' })}
            >
              <option value="list">list</option>
              {SEPARATORS.map((separator) => (
                <option key={separator} value={separator}>
                  tree by {separator}
                </option>
              ))}
            </Select>
          </FilterBar>
        )
      }
      detail={
        scope === undefined || key === undefined ? undefined : (
          <EntryPanel
            key={`${scope}\n${key}`}
            scope={scope}
            itemKey={key}
            onClose={() => setSearch({ key: undefined, tab: 'value' }, { push: true })}
          />
        )
      }
    >
      {hasNone && scope === undefined ? (
        <NoScopes list={scopes} />
      ) : (
        <div className="flex h-full min-h-0 max-md:flex-col">
          <ScopeList list={scopes} />
          <div className="min-h-0 min-w-0 flex-1">
            {scope === undefined ? (
              <EmptyState title="Choose a scope">
                <p>A scope holds keys that belong together: its entries are listed here.</p>
              </EmptyState>
            ) : (
              <KeyTable key={scope} scope={scope} />
            )}
          </div>
        </div>
      )}
    </Page>
  );
}

function PageActions({ scope }: { readonly scope: string | undefined }): ReactNode {
  const [isAdding, setAdding] = useState(false);
  const isReadOnly = useReadOnly();
  return (
    <>
      {scope !== undefined && <ScopeMenu scope={scope} />}
      {!isReadOnly && (
        <Button look="primary" icon={<Plus size={14} />} onClick={() => setAdding(true)}>
          Add item
        </Button>
      )}
      {isAdding && <AddEntryDialog scope={scope ?? ''} onClose={() => setAdding(false)} />}
    </>
  );
}
