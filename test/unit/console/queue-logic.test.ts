// What the Queues page computes: bulk requests, progress, depth of the last minute.

import { expect, test } from 'vitest';
import { bulkRequest, targetWords, taskProgress } from '../../../src/console/web/logic/dead-letters.ts';
import { DEPTHS_KEPT, depthOf, withDepths } from '../../../src/console/web/logic/depth-history.ts';
import { secretOf } from '../../../src/console/web/logic/queue-secrets.ts';
import type { Task } from '../../../src/console-api/queues.ts';

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

test('[QUE-3] a selection is sent as ids, a filter as a filter, and a filter that leaves nothing out as all', () => {
  expect(bulkRequest({ kind: 'ids', ids: ['a', 'b'] })).toEqual({ ids: ['a', 'b'] });
  const filter = { error_group: 'Mailbox # does not exist' };
  expect(bulkRequest({ kind: 'filter', filter, count: 3 })).toEqual({ filter });
  expect(bulkRequest({ kind: 'filter', filter: {}, count: 3 })).toEqual({ all: true });
});

test('[QUE-3] a question says how many are meant, and does not invent a number', () => {
  expect(targetWords({ kind: 'ids', ids: ['a'] })).toBe('1 dead letter');
  expect(targetWords({ kind: 'filter', filter: { q: 'x' }, count: null })).toBe('all dead letters that match');
  expect(targetWords({ kind: 'filter', filter: {}, count: null })).toBe('all dead letters');
});

test('[QUE-3] progress counts what was skipped and what failed, and is whole when the task is done', () => {
  expect(taskProgress(TASK)).toEqual({ share: 0.5, words: '3 done, 1 failed, 1 skipped', isRunning: true });
  expect(taskProgress({ ...TASK, total: null }).share).toBeUndefined();
  expect(taskProgress({ ...TASK, total: null, state: 'done' }).share).toBe(1);
});

test('[QUE-1] the depth is all that is still to be done, kept for a minute; a queue that is gone is forgotten', () => {
  expect(depthOf(ROW)).toBe(15);
  let history = withDepths(new Map(), [ROW, { ...ROW, name: 'old' }]);
  for (let second = 0; second < DEPTHS_KEPT + 5; second++) history = withDepths(history, [{ ...ROW, waiting: second }]);
  expect(history.has('old')).toBe(false);
  expect(history.get('mail')).toHaveLength(DEPTHS_KEPT);
  expect(history.get('mail')?.at(-1)).toBe(DEPTHS_KEPT + 4 + 14);
});

test('[QUE-2] [QUE-4] what a store cannot tell is said in words, and what it tells is not spoken of', () => {
  const rabbit = { adapter: 'rabbitmq', not_told: ['jobs', 'waits'] as const };
  expect(secretOf({ ...rabbit, not_told: [...rabbit.not_told] }, 'jobs')).toBe(
    'RabbitMQ tells how many jobs wait, and not which ones.',
  );
  expect(secretOf({ adapter: 'builtin', not_told: [] }, 'groups')).toBeUndefined();
});

test('[QUE-1] jobs that nobody counts add nothing to the depth', () => {
  expect(depthOf({ ...ROW, delayed: null, retrying: null })).toBe(9);
});
