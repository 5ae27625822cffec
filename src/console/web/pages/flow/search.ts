// The address of the Flow page.

import { param } from '../../data/search.ts';
import { FLOW_KINDS } from './logic/flow-view.ts';

export const FLOW_SEARCH = {
  q: param.text(),
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
