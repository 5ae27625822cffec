// What the store does for cron, command by command.

import type { StoreCommand } from '../../thread/contract.ts';
import { cronClaim, cronOpen, cronRelease, cronSweep } from './claims.ts';

export const CRON_COMMANDS: readonly StoreCommand[] = [cronOpen, cronClaim, cronRelease, cronSweep];
