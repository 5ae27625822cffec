// Every command of a local store. A batch refers to a command by its index in this list: both ends use the same list.

import { putPlan } from '../commands/change-outbox/change-jobs.ts';
import { dropEntries, oldestEntries } from '../commands/change-outbox/entries.ts';
import { cronClaim, cronOpen, cronRelease, cronSweep } from '../commands/cron.ts';
import { rowCommands, secretsKeep } from '../commands/engine-rows.ts';
import { queueForget, queueOpen, queuePause, queueStats, queueWake } from '../commands/queue/admin.ts';
import { advance } from '../commands/queue/advance.ts';
import { deadList, deadMoves } from '../commands/queue/dead.ts';
import { enqueue } from '../commands/queue/enqueue.ts';
import { queueGroups, queueJob, queueJobs, queuePayload } from '../commands/queue/inspect.ts';
import { migrate } from '../commands/queue/migrate.ts';
import { forgetSubscription, keptMoves, subscribe, subscriptions } from '../commands/queue/topics.ts';
import {
  stateDelete,
  stateGet,
  stateList,
  stateListGroups,
  stateSet,
  stateUpdate,
} from '../commands/state/commands.ts';
import { streamSweep } from '../commands/stream/history.ts';
import { streamGet, streamList, streamListAll, streamListGroups, streamSubscribe } from '../commands/stream/reads.ts';
import { streamAnnounce, streamDelete, streamSend, streamSet, streamUpdate } from '../commands/stream/writes.ts';
import { SPACE } from '../kv/keys.ts';
import type { StoreCommand } from './contract.ts';

const STATE = [stateGet, stateSet, stateDelete, stateUpdate, stateList, stateListGroups];
const STREAMS = [
  ...[streamSet, streamGet, streamDelete, streamUpdate, streamList, streamListGroups, streamListAll],
  ...[streamSend, streamAnnounce, streamSubscribe, streamSweep],
];
const CRON = [cronOpen, cronClaim, cronRelease, cronSweep];
const QUEUES = [
  ...[enqueue, migrate, advance, queueOpen, queueWake, queuePause, queueStats, queueForget],
  ...[queueJob, queuePayload, queueJobs, queueGroups, deadList, deadMoves],
  ...[subscribe, forgetSubscription, subscriptions, keptMoves],
];
const OUTBOX = [putPlan, oldestEntries, dropEntries];

export const COMMANDS: readonly StoreCommand[] = [
  ...STATE,
  ...STREAMS,
  ...CRON,
  ...rowCommands(SPACE.triggers, 'triggers'),
  ...QUEUES,
  ...OUTBOX,
  ...rowCommands(SPACE.reservations, 'reservations'),
  secretsKeep,
];

export function commandNumber(name: string): number {
  const number = NUMBERS.get(name);
  if (number === undefined) throw new Error(`There is no store command ${name}`);
  return number;
}

const NUMBERS = new Map(COMMANDS.map(({ name }, index) => [name, index]));
