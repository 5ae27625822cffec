// The address as the state of a page (rule 1). A page names its parameters once; what the address holds is read by
// them, and what is wrong in it is left out, so that a page never sees a value that it did not allow.

import { useNavigate, useSearch as useRouterSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { readSearch, type SearchShape, type SearchValues, writeSearch } from '../logic/search-params.ts';

export interface SearchState<S extends SearchShape> {
  readonly search: SearchValues<S>;
  /** Changes some; by default without a new step in the history, as filters do. `push` for what Back should undo. */
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
