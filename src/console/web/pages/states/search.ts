// The address of the States page.

import { param, type SearchValues } from '../../data/search.ts';

export const SEPARATORS = [':', '/', '.', '::'] as const;

export const STATES_SEARCH = {
  scope: param.optional(),
  q: param.text(),
  /** Where in the key the search text has to be. */
  at: param.choice(['anywhere', 'start']),
  key: param.optional(),
  /** A list, or a tree by that separator. */
  view: param.choice(['list', ':', '/', '.', '::']),
  tab: param.choice(['value', 'update', 'changes']),
};

export type StatesSearch = SearchValues<typeof STATES_SEARCH>;
export type EntryTab = StatesSearch['tab'];
