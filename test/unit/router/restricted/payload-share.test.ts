// What restricted connections have at the stores is bounded, and each answer frees its part.

import { expect, test } from 'vitest';
import type { EnqueueAnswer } from '../../../../src/core/queue/shapes.ts';
import type { Outcome } from '../../../../src/router/calls/call.ts';
import { openRestricted, type RestrictedPort } from '../../../support/engine/restricted-port.ts';

/** A 64th of the share, in a frame that is handled at once. */
const TEXT = 'x'.repeat(261_000);

test('Restricted connections have 16 MiB at the stores together; trusted callers have room besides', async () => {
  const { port, answers } = await openSlowStore();
  const pages = [await port.browser(), await port.browser()];
  const calls = pages.flatMap((page) => Array.from({ length: 33 }, () => page.invoke('slow::put', TEXT)));
  expect(answers.length).toBe(64);
  const refused = calls.slice(64).map((id) => pages[1]?.errorCodeOf(id));
  expect(refused).toEqual(['OVERLOADED', 'OVERLOADED']);
  port.backend.invoke('slow::put', TEXT);
  expect(answers.length).toBe(65);
  for (const answer of answers.splice(0)) answer({});
  for (let call = 0; call < 60; call++) pages[1]?.invoke('slow::put', TEXT);
  expect(answers.length).toBe(60);
});

test('A job counts until it is durable or refused', async () => {
  const { port, jobs } = await openSlowStore();
  const page = await port.browser();
  const put = () => page.invoke('slow::put', TEXT, { action: { type: 'enqueue', queue: 'default' } });
  for (let job = 0; job < 64; job++) put();
  expect(page.answerTo(put()).error).toMatchObject({ code: 'enqueue_error', reason: 'OVERLOADED' });
  for (const done of jobs.splice(0)) done({ reason: 'QUEUE_FULL', message: 'full' });
  put();
  expect(jobs.length).toBe(1);
});

/** A function and a queue that answer when the test says so. */
async function openSlowStore() {
  const answers: ((outcome: Outcome) => void)[] = [];
  const jobs: ((answer: EnqueueAnswer) => void)[] = [];
  const port: RestrictedPort = await openRestricted({ rbac: { expose_functions: ['match("slow::*")'] } });
  const { context } = port.engine;
  const handler = {
    id: 'slow::put',
    description: '',
    handleRaw: (_payload: unknown, _call: unknown, done: (outcome: Outcome) => void) => void answers.push(done),
  };
  const spec = { description: '', requestFormat: undefined, responseFormat: undefined, metadata: undefined };
  context.functions.addBuiltin({ kind: 'builtin', id: 'slow::put', module: 'slow', spec, handler });
  context.jobTaker = {
    take: (_job, done) => void jobs.push(done),
    place: undefined,
    target: () => '',
    jobsCame: () => {},
  };
  return { port, answers, jobs };
}
