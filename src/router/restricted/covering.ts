// Connections of restricted ports whose granted prefix covers a function: what lies below it is theirs.

import { coversId } from '../../core/access/access.ts';
import { selectWorker } from '../../core/calls/select-worker.ts';
import type { WorkerEntry } from '../context.ts';
import type { Session } from '../session/session.ts';

/**
 * Of a function of restricted connections, those whose granted prefix covers it: trusted work may be meant for them.
 */
export function coveringExecutors({ id, executors }: Pick<WorkerEntry, 'id' | 'executors'>): Session[] {
  return executors.filter(({ access }) => access !== undefined && coversId(access, id));
}

export function selectCovering(entry: WorkerEntry): Session | undefined {
  return selectWorker({ executors: coveringExecutors(entry), next: 0 }, entry.balance);
}
