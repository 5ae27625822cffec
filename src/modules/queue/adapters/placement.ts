// The group and the priority of a job, for adapters other than the local store.

import type { EnqueueRefused, EnqueueRules } from '../../../core/queue/shapes.ts';
import { readGroup, readPriority } from '../../../store/commands/queue/group-value.ts';

export interface Placement {
  /** Digest of its group; empty: it has none. */
  readonly group: string;
  readonly priority: number;
}

/** FIFO without a field: all jobs of the queue are one group. */
export const ONE_GROUP = 'all';

export function placementOf(
  queue: string,
  rules: EnqueueRules,
  priority: number | undefined,
  payload: Uint8Array,
): Placement | EnqueueRefused {
  const { groupField, isOneGroup, priorityField } = rules;
  const urgency = priority ?? (priorityField === undefined ? 0 : readPriority(priorityField, payload));
  if (isOneGroup === true) return { group: ONE_GROUP, priority: 0 };
  if (groupField === undefined) return { group: '', priority: urgency };
  const group = readGroup(queue, groupField, payload);
  return group.ok ? { group: group.digest, priority: 0 } : { reason: 'GROUP_FIELD', message: group.message };
}
