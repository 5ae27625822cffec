// The scopes of the state store, next to the keys of the open one (STA-1).

import { type ReactNode, useEffect, useId } from 'react';
import type { ScopeRow } from '../../../api/states.ts';
import { call } from '../../data/api.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { type ListState, useList } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { EmptyState, FailedState, Loading, Snippet } from '../../kit/feedback/empty-state.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { STATES_SEARCH } from './search.ts';

const EXAMPLE = `svc state set orders o-1 '{"sku":"lamp"}'`;

export type Scopes = ListState<ScopeRow>;

export function useScopes(): Scopes {
  return useList(['scopes'], (page, signal) => call('GET /states/scopes', { query: page, signal }));
}

/** There are no scopes: the whole page shows why. */
export function NoScopes({ list }: { readonly list: Scopes }): ReactNode {
  if (list.error !== null && list.items === undefined) {
    return <FailedState error={list.error} what="States" shows="every scope and its entries" retry={list.refetch} />;
  }
  return (
    <EmptyState title="Nothing is stored yet">
      <p>State is kept in scopes of keys. Add an item above, or write one:</p>
      <Snippet text={EXAMPLE} label="command" />
    </EmptyState>
  );
}

export function ScopeList({ list }: { readonly list: Scopes }): ReactNode {
  const { search, setSearch } = usePageSearch(STATES_SEARCH);
  const { internal } = useStore(preferences);
  const headId = useId();
  const shown = list.items?.filter((row) => internal || !row.internal || row.scope === search.scope);
  const only = shown?.length === 1 ? shown[0]?.scope : undefined;
  useEffect(() => {
    if (search.scope === undefined && only !== undefined) setSearch({ scope: only });
  }, [search.scope, only, setSearch]);
  if (shown === undefined) {
    return (
      <div className="w-56 shrink-0 border-r border-line max-md:w-full">
        <Loading what="the scopes" rows={5} />
      </div>
    );
  }
  return (
    <nav
      aria-labelledby={headId}
      className={
        'flex w-56 shrink-0 flex-col gap-px overflow-y-auto border-r border-line px-2 pb-2 ' +
        'max-md:w-full max-md:max-h-36 max-md:border-r-0 max-md:border-b'
      }
    >
      <h2
        id={headId}
        className={
          'sticky top-0 -mx-2 mb-2 flex h-8 shrink-0 items-center gap-1.5 border-b border-line bg-panel px-4 text-xs ' +
          'font-medium text-muted'
        }
      >
        Scopes <span className="font-normal text-faint">{formatCount(shown.length)}</span>
      </h2>
      {shown.map(({ scope }) => (
        <button
          key={scope}
          type="button"
          aria-current={scope === search.scope}
          onClick={() => setSearch({ scope, key: undefined, q: '', tab: 'value' }, { push: true })}
          className={classes(
            'min-h-8 shrink-0 truncate rounded-md px-2 text-left font-mono text-sm hover:bg-hover',
            scope === search.scope ? 'bg-selected font-medium text-text' : 'text-muted',
          )}
        >
          {visibleText(scope)}
        </button>
      ))}
      {list.more !== undefined && (
        <Button look="ghost" onClick={list.more}>
          More scopes
        </Button>
      )}
      {shown.length === 0 && <p className="px-2 py-1.5 text-sm text-muted">No scope yet</p>}
      <div className="mt-auto px-2 pt-2 max-md:hidden">
        <Toggle label="Internal" checked={internal} onChange={(on) => setPreference('internal', on)} />
      </div>
    </nav>
  );
}
