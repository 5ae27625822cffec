// The address of an open trace: everything that another user of the link should see (console rule 1).

import { param } from '../../../data/search.ts';
import { SPAN_TABS } from '../views/span-panel.tsx';

export const TRACE_MODES = ['waterfall', 'flame', 'services', 'map', 'compare'] as const;

export const TRACE_SEARCH = {
  view: param.choice(TRACE_MODES),
  span: param.optional(),
  tab: param.choice(SPAN_TABS),
  /** Milliseconds from the start of the trace. */
  from: param.number(),
  to: param.number(),
  q: param.text(),
  level: param.number(),
  only: param.choice(['all', 'errors', 'path', 'found']),
  path: param.flag(true),
  logs: param.flag(true),
  fold: param.flag(true),
  clocks: param.flag(),
  order: param.choice(['time', 'name']),
  by: param.choice(['service', 'function']),
  /** The trace that this one is compared with, and whether only differences are shown. */
  with: param.optional(),
  changes: param.flag(true),
  /** Attributes shown next to the bars. */
  cols: param.list(),
};
