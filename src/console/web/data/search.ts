// The address as the state of a page (console rule 1). A page declares its parameters once. The address is read by
// these declarations and invalid parts are left out, so a page never gets a value that it does not allow.

import { useNavigate, useSearch as useRouterSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { readSearch, type SearchShape, type SearchValues, writeSearch } from './search-params.ts';

export interface SearchState<S extends SearchShape> {
  readonly search: SearchValues<S>;
  /**
   * Changes some parameters. By default it adds no step to the history, as for filters. Use `push` for steps that Back
   * should undo.
   */
  readonly setSearch: (change: Partial<SearchValues<S>>, options?: { readonly push?: boolean }) => void;
}

export function usePageSearch<S extends SearchShape>(shape: S): SearchState<S> {
  const raw: Record<string, unknown> = useRouterSearch({ strict: false });
  const navigate = useNavigate();
  const search = useMemo(() => readSearch(shape, raw), [shape, raw]);
  const setSearch = useCallback<SearchState<S>['setSearch']>(
    (change, { push = false } = {}) => {
      void navigate({
        to: '.',
        search: (now: Record<string, unknown>) => ({ ...now, ...writeSearch(shape, change) }),
        replace: !push,
        resetScroll: false,
      });
    },
    [navigate, shape],
  );
  return { search, setSearch };
}
