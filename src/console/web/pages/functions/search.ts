// The address of the Functions page.

import { param } from '../../data/search.ts';

export const FUNCTIONS_SEARCH = {
  q: param.text(),
  ns: param.text(),
  worker: param.text(),
  sort: param.choice(['id', 'worker', 'triggers', 'calls', 'errors', 'p95']),
  order: param.choice(['asc', 'desc']),
  group: param.flag(true),
  id: param.optional(),
  /** The trace and the span of a run whose input is to be edited. */
  again: param.optional(),
  tab: param.choice(['invoke', 'overview', 'triggers', 'workers', 'runs', 'logs', 'schema', 'code']),
};

export type FunctionTab = (typeof FUNCTIONS_SEARCH)['tab']['fallback'];
