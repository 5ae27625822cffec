// The address of the Flow page.

import { param } from '../../data/search.ts';
import { FLOW_KINDS } from './logic/flow-view.ts';

export const FLOW_SEARCH = {
  q: param.text(),
  range: param.choice(['15m', '5m', '1h', '24h']),
  group: param.choice(['none', 'namespace', 'worker']),
  hide: param.list(FLOW_KINDS),
  /** Groups that are not in their initial state: opened, or closed above 300 nodes. */
  toggled: param.list(),
  focus: param.optional(),
  hops: param.choice(['1', '2', 'all']),
  internal: param.flag(),
  /** The node whose detail is open. */
  id: param.optional(),
};

export const RANGE_MS = { '5m': 300_000, '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000 } as const;
