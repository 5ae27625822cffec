// What the Queues page computes: bulk requests, progress, depth of the last minute.

import { expect, test } from 'vitest';
import type { Task } from '../../../../../../src/console/api/queues.ts';
import {
  bulkRequest,
  targetWords,
  taskProgress,
} from '../../../../../../src/console/web/pages/queues/logic/dead-letters.ts';
import {
  DEPTHS_KEPT,
  depthOf,
  secretOf,
  withDepths,
} from '../../../../../../src/console/web/pages/queues/logic/queue-state.ts';

const ROW = { name: 'mail', waiting: 1, delayed: 2, running: 3, retrying: 4, waiting_for_worker: 5 };
const TASK: Task = {
  id: 't',
  kind: 'redrive',
  subject: 'mail',
  state: 'running',
  total: 10,
  done: 3,
  failed: 1,
  skipped: 1,
  error: null,
  started_at: 0,
  ended_at: null,
};

test('[QUE-3] A selection is sent as ids, a filter as a filter, and an empty filter as all', () => {
  expect(bulkRequest({ kind: 'ids', ids: ['a', 'b'] })).toEqual({ ids: ['a', 'b'] });
  const filter = { error_group: 'Mailbox # does not exist' };
  expect(bulkRequest({ kind: 'filter', filter, count: 3 })).toEqual({ filter });
  expect(bulkRequest({ kind: 'filter', filter: {}, count: 3 })).toEqual({ all: true });
});

test('[QUE-3] A confirmation states the number of letters, and invents none where it is unknown', () => {
  expect(targetWords({ kind: 'ids', ids: ['a'] })).toBe('1 dead letter');
  expect(targetWords({ kind: 'filter', filter: { q: 'x' }, count: null })).toBe('all dead letters that match');
  expect(targetWords({ kind: 'filter', filter: {}, count: null })).toBe('all dead letters');
});

test('[QUE-3] Progress counts skipped and failed jobs, and is complete when the task is done', () => {
  expect(taskProgress(TASK)).toEqual({ share: 0.5, words: '3 done, 1 failed, 1 skipped', isRunning: true });
  expect(taskProgress({ ...TASK, total: null }).share).toBeUndefined();
  expect(taskProgress({ ...TASK, total: null, state: 'done' }).share).toBe(1);
});

test('[QUE-1] The depth counts unfinished jobs and is kept for a minute; a queue that is gone is removed', () => {
  expect(depthOf(ROW)).toBe(15);
  let history = withDepths(new Map(), [ROW, { ...ROW, name: 'old' }]);
  for (let second = 0; second < DEPTHS_KEPT + 5; second++) history = withDepths(history, [{ ...ROW, waiting: second }]);
  expect(history.has('old')).toBe(false);
  expect(history.get('mail')).toHaveLength(DEPTHS_KEPT);
  expect(history.get('mail')?.at(-1)).toBe(DEPTHS_KEPT + 4 + 14);
});

test('[QUE-2] [QUE-4] What a store cannot report is stated in words, and the rest is not mentioned', () => {
  const rabbit = { adapter: 'rabbitmq', not_told: ['jobs', 'waits'] as const };
  expect(secretOf({ ...rabbit, not_told: [...rabbit.not_told] }, 'jobs')).toBe(
    'RabbitMQ reports how many jobs wait, but not which ones.',
  );
  expect(secretOf({ adapter: 'builtin', not_told: [] }, 'groups')).toBeUndefined();
});

test('[QUE-1] Jobs that are not counted add nothing to the depth', () => {
  expect(depthOf({ ...ROW, delayed: null, retrying: null })).toBe(9);
});
