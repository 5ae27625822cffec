// The address of the Triggers page.

import { param } from '../../data/search.ts';
import { KINDS } from './logic/trigger-kinds.ts';

export const TRIGGERS_SEARCH = {
  q: param.text(),
  kind: param.choice(KINDS),
  status: param.choice(['any', 'Active', 'Inactive', 'Error']),
  fn: param.text(),
  sort: param.choice(['type', 'id', 'function', 'status']),
  order: param.choice(['asc', 'desc']),
  id: param.optional(),
};
