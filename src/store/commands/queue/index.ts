// What the store does for queues, command by command.

import type { StoreCommand } from '../../thread/contract.ts';
import { queueForget, queueOpen, queuePause, queueStats, queueWake } from './admin.ts';
import { advance } from './advance.ts';
import { deadList, deadMoves } from './dead.ts';
import { enqueue } from './enqueue.ts';
import { queueGroups, queueJob, queueJobs, queuePayload } from './inspect.ts';
import { migrate } from './migrate.ts';
import { forgetSubscription, keptMoves, subscribe, subscriptions } from './topics.ts';

export const QUEUE_COMMANDS: readonly StoreCommand[] = [
  enqueue,
  migrate,
  advance,
  queueOpen,
  queueWake,
  queuePause,
  queueStats,
  queueJob,
  queuePayload,
  queueJobs,
  queueGroups,
  deadList,
  deadMoves,
  subscribe,
  forgetSubscription,
  subscriptions,
  keptMoves,
  queueForget,
];
