// The lines of a FIFO queue, as those see them who look on (QUE-4). `src/validators/queue-shapes.ts` compiles these.

import type { JobRow } from './shapes.ts';

export interface GroupsInput {
  queue: string;
  groupField?: string;
  limit: number;
}

export interface GroupRow {
  /** As JSON; null where the queue is one group as a whole. */
  value: string | null;
  /** How many stand in its line, the head with them. */
  jobs: number;
  head: JobRow;
}

export interface GroupsPage {
  groups: GroupRow[];
  /** There are more of them than were asked for. */
  hasMore: boolean;
}
