// What the store does for state, command by command.

import type { StoreCommand } from '../../thread/contract.ts';
import { stateGet, stateList, stateListGroups } from './reads.ts';
import { stateDelete, stateSet, stateUpdate } from './writes.ts';

export const STATE_COMMANDS: readonly StoreCommand[] = [
  stateGet,
  stateSet,
  stateDelete,
  stateUpdate,
  stateList,
  stateListGroups,
];
