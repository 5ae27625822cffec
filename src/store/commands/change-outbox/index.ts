// What the store does for changes that become jobs, command by command.

import type { StoreCommand } from '../../thread/contract.ts';
import { putPlan } from './change-jobs.ts';
import { dropEntries, oldestEntries } from './entries.ts';

export const OUTBOX_COMMANDS: readonly StoreCommand[] = [putPlan, oldestEntries, dropEntries];
