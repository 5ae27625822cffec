// The groups of a FIFO queue as lists show them (QUE-4). `src/validators/queue-shapes.ts` compiles these.

import type { JobRow } from './shapes.ts';

export interface GroupsInput {
  queue: string;
  groupField?: string;
  limit: number;
}

export interface GroupRow {
  /** As JSON; null where the queue is one group as a whole. */
  value: string | null;
  /** The number of jobs in the group, including the head. */
  jobs: number;
  head: JobRow;
}

export interface GroupsPage {
  groups: GroupRow[];
  /** There are more of them than the requested number. */
  hasMore: boolean;
}
