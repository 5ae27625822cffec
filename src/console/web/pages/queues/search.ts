// The address of the Queues page, and the query to the server in it.

import type { JobFilter, QueueJobState } from '../../../api/queues.ts';
import { param, type SearchValues } from '../../data/search.ts';

export const JOB_STATES: readonly QueueJobState[] = ['waiting', 'delayed', 'running', 'retrying', 'waiting_for_worker'];

export const QUEUES_SEARCH = {
  queue: param.optional(),
  tab: param.choice(['jobs', 'groups', 'dead', 'publish']),
  state: param.choice(['all', 'waiting', 'delayed', 'running', 'retrying', 'waiting_for_worker']),
  q: param.text(),
  fn: param.text(),
  /** FIFO: the value of the group. */
  group: param.text(),
  attempts: param.number(),
  /** Seconds since it was enqueued. */
  age: param.number(),
  /** The folded message of a group of dead letters. */
  error: param.text(),
  sort: param.choice(['trouble', 'name', 'waiting', 'running', 'dead']),
  order: param.choice(['asc', 'desc']),
  id: param.optional(),
  /** The bulk task whose progress is shown. */
  task: param.optional(),
};

export type QueuesSearch = SearchValues<typeof QUEUES_SEARCH>;
export type QueueTab = QueuesSearch['tab'];

/** The parameters that are removed when another queue is opened. */
export const NO_JOB_FILTER = { q: '', fn: '', group: '', attempts: undefined, age: undefined, error: '' } as const;

export function jobFilterOf({ q, fn, group, attempts, age, error }: QueuesSearch): JobFilter {
  return {
    ...(q !== '' && { q }),
    ...(fn !== '' && { function_id: fn }),
    ...(group !== '' && { group }),
    ...(error !== '' && { error_group: error }),
    ...(attempts !== undefined && { attempts_min: attempts }),
    ...(age !== undefined && { older_than_ms: age * 1_000 }),
  };
}
