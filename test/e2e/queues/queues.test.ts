// Queues seen by their workers: enqueued jobs, deliveries and failures.

import { expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { deadLettersOf, enqueue, receiptOf, startQueueEngine, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const JOB_TIMEOUT_MS = 5_000;
const SLOW_JOBS = { queues: `{default: {backoff_ms: 1, job_timeout_ms: ${JOB_TIMEOUT_MS}}}` };

/** What can be read of the job, once it has that state. */
function jobThatIs(state: string, worker: RawWorker, messageReceiptId: string): Promise<object> {
  return waitFor(`the job is ${state}`, async () => {
    const { result } = await worker.call('engine::queue::job', { messageReceiptId });
    const found = result as { state: string } | undefined;
    return found?.state === state ? found : undefined;
  });
}

/** The next attempt, after its wait. Too little time passes for that attempt to time out. */
async function nextAttempt(worker: RawWorker, clock: TurningClock): Promise<Frame> {
  const passing = setInterval(() => clock.advance(1), 1);
  try {
    return await worker.next('invokefunction');
  } finally {
    clearInterval(passing);
  }
}

test('[Q1] [Q9] Enqueuing returns a receipt, and the job is delivered with receipt, attempt and queue', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('mail::send');
  const receipt = await receiptOf(enqueue(worker, 'mail::send', { to: 'ann' }, { metadata: { tenant: 7 } }));
  const call = await worker.next('invokefunction');
  expect(call.data).toEqual({ to: 'ann' });
  expect(call.metadata).toEqual({ tenant: 7, messageReceiptId: receipt, attempt: 1, queue: 'default' });
  worker.answer(call, { result: { sent: true } });
  const job = await jobThatIs('done', worker, receipt);
  expect(job).toMatchObject({ attempt: 1, function_id: 'mail::send', queue: 'default' });
  // Outcomes wait up to 2 ms for more of them.
  await waitFor('the store has forgotten it', async () => (await statsOf(worker)).depth === 0);
});

test.for([
  ['an unknown queue', { queue: 'paymnt' }, {}, 'QUEUE_NOT_FOUND', "Queue 'paymnt' not found"],
  [
    'no group field',
    { queue: 'f' },
    {},
    'GROUP_FIELD',
    "FIFO queue 'f' requires field 'g' in data, but it was not found",
  ],
  ['a null group', { queue: 'f' }, { g: null }, 'GROUP_FIELD', "FIFO queue 'f': field 'g' must not be null"],
] as const)(
  '[Q2] [wire 5.4] A job with %s is refused with a message and a reason, and is not kept',
  async ([, fields, data, reason, message]) => {
    await using engine = await startQueueEngine({ queues: '{f: {type: fifo, message_group_field: g}}' });
    await using worker = await RawWorker.connect(engine.url);
    const { error } = await enqueue(worker, 'any', data, fields);
    expect(error).toEqual({ code: 'enqueue_error', message, enqueue_error: message, reason });
    expect((await statsOf(worker, 'f')).depth).toBe(0);
  },
);

test('[Q2] A full queue and a payload over the limit are refused', async () => {
  await using engine = await startQueueEngine({ queues: '{small: {max_jobs: 2}}' });
  await using worker = await RawWorker.connect(engine.url);
  for (const n of [1, 2]) await receiptOf(enqueue(worker, 'absent', { n }, { queue: 'small' }));
  expect((await enqueue(worker, 'absent', {}, { queue: 'small' })).error).toMatchObject({ reason: 'QUEUE_FULL' });
  const large = await enqueue(worker, 'absent', 'x'.repeat(1024 * 1024));
  expect(large.error).toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
});

test('[Q3] The same idempotency key in the same queue returns the first receipt', async () => {
  await using engine = await startQueueEngine({ queues: '{other: {}}' });
  await using worker = await RawWorker.connect(engine.url);
  const fields = { idempotency_key: 'order 7' };
  const first = await receiptOf(enqueue(worker, 'absent', 1, fields));
  expect(await receiptOf(enqueue(worker, 'absent', 2, fields))).toBe(first);
  expect(await receiptOf(enqueue(worker, 'absent', 2, { ...fields, queue: 'other' }))).not.toBe(first);
  expect((await statsOf(worker)).depth).toBe(1);
});

test('[Q4] [Q5] [Q10] A failing job gets max_retries + 1 attempts, and becomes a dead letter with its last error', async () => {
  await using engine = await startQueueEngine({ queues: '{default: {max_retries: 2, backoff_ms: 1}}' });
  await using worker = await RawWorker.connect(engine.url);
  const attempts: unknown[] = [];
  await worker.serve('fails', (_data, { metadata }) => {
    attempts.push((metadata as { attempt: number }).attempt);
    throw new Error(`no luck ${attempts.length}`);
  });
  const receipt = await receiptOf(enqueue(worker, 'fails', { big: '1.00' }));
  await waitFor('the job is a dead letter', async () => (await statsOf(worker)).dlq_depth === 1);
  expect(attempts).toEqual([1, 2, 3]);
  const [letter] = await deadLettersOf(worker);
  expect(letter).toMatchObject({ id: receipt, payload: { big: '1.00' }, reason: 'failed', retries: 3 });
  expect(letter?.error).toContain('no luck 3');
});

test('[Q5] A lost worker and a job that takes too long are failed attempts', async () => {
  const clock = new TurningClock();
  await using engine = await startQueueEngine(SLOW_JOBS, clock);
  await using worker = await RawWorker.connect(engine.url);
  const lost = await RawWorker.connect(engine.url);
  await lost.register('f');
  await receiptOf(enqueue(worker, 'f', 1));
  expect((await lost.next('invokefunction')).metadata).toMatchObject({ attempt: 1 });
  await lost[Symbol.asyncDispose]();
  await worker.register('f');
  expect((await nextAttempt(worker, clock)).metadata).toMatchObject({ attempt: 2 });
  clock.advance(JOB_TIMEOUT_MS);
  const third = await nextAttempt(worker, clock);
  expect(third.metadata).toMatchObject({ attempt: 3 });
  worker.answer(third, { result: 1 });
  await waitFor('the job is gone', async () => {
    // Outcomes are stored a moment later.
    clock.advance(1);
    return (await statsOf(worker)).depth === 0;
  });
});

test('[Q7] Jobs of an absent function use no attempt, block no other job, and run when it is registered', async () => {
  await using engine = await startQueueEngine({ queues: '{default: {concurrency: 1}}' });
  await using worker = await RawWorker.connect(engine.url);
  const done: unknown[] = [];
  await worker.serve('here', (data) => done.push(data));
  const receipts = await Promise.all(Array.from({ length: 50 }, (_, n) => receiptOf(enqueue(worker, 'absent', n))));
  await receiptOf(enqueue(worker, 'here', 'passes'));
  await waitFor('the other job has run', () => done.length === 1);
  const { result } = await worker.call('engine::queue::job', { messageReceiptId: receipts[0] });
  expect(result).toMatchObject({ state: 'waiting_for_worker', attempt: 0 });
  const attempts: unknown[] = [];
  await worker.serve('absent', (_data, { metadata }) => attempts.push((metadata as { attempt: number }).attempt));
  await waitFor('all have run', () => attempts.length === 50);
  expect(new Set(attempts)).toEqual(new Set([1]));
  const lines = engine.log.filter((line) => line.includes('no worker offers their function'));
  expect(lines).toHaveLength(1);
});

test('[Q7] A function that is registered while its job is being parked runs that job', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  for (let round = 0; round < 200; round++) {
    const id = `late-${round}`;
    const receipt = receiptOf(enqueue(worker, id, round));
    // The registration comes this many turns of the engine later.
    for (let turn = round % 5; turn > 0; turn--) await worker.settled();
    worker.send({ type: 'registerfunction', id });
    const call = await worker.next('invokefunction', ({ function_id }) => function_id === id);
    worker.answer(call, { result: null });
    await receipt;
  }
});

test('[Q8] The late result of an attempt that has timed out is ignored', async () => {
  const clock = new TurningClock();
  await using engine = await startQueueEngine(SLOW_JOBS, clock);
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('f');
  await receiptOf(enqueue(worker, 'f', 1));
  const first = await worker.next('invokefunction');
  clock.advance(JOB_TIMEOUT_MS);
  const second = await nextAttempt(worker, clock);
  worker.answer(first, { result: 'late' });
  await worker.settled();
  expect((await statsOf(worker)).depth).toBe(1);
  worker.answer(second, { result: 'in time' });
  await waitFor('the job is gone', async () => {
    // Outcomes are stored a moment later.
    clock.advance(1);
    return (await statsOf(worker)).depth === 0;
  });
  expect(engine.counters.snapshot()['invocations.late_results']).toBe(1);
});

test('[Q10] Dead letters are redriven singly, with another payload or all at once, discarded and purged', async () => {
  await using engine = await startQueueEngine({ queues: '{default: {max_retries: 0}}' });
  await using worker = await RawWorker.connect(engine.url);
  let isBroken = true;
  const done: unknown[] = [];
  await worker.serve('f', (data) => {
    if (isBroken) throw new Error('broken');
    done.push(data);
  });
  const receipts = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => receiptOf(enqueue(worker, 'f', { n }))));
  await waitFor('all are dead letters', async () => (await statsOf(worker)).dlq_depth === 6);
  isBroken = false;
  const move = (verb: string, fields: object) => worker.call(`svc::queue::${verb}`, { queue: 'default', ...fields });
  const [, middle, edited, thrown, unknown] = receipts;
  expect((await move('redrive_message', { message_id: middle })).result).toMatchObject({ redriven: 1 });
  expect((await move('redrive_message', { message_id: middle })).result).toMatchObject({ redriven: 0 });
  await move('redrive_message', { message_id: edited, payload: { n: 'edited' } });
  expect((await move('discard_message', { message_id: thrown })).result).toMatchObject({ discarded: 1 });
  await waitFor('the two have run', () => done.length === 2);
  expect(done).toEqual([{ n: 2 }, { n: 'edited' }]);
  expect(unknown).toBeDefined();
  expect((await move('redrive', {})).result).toEqual({ queue: 'default', redriven: 3 });
  await waitFor('the others have run', () => done.length === 5);
  isBroken = true;
  await receiptOf(enqueue(worker, 'f', 'again'));
  await waitFor('the job is a dead letter', async () => (await statsOf(worker)).dlq_depth === 1);
  expect((await move('purge', {})).result).toEqual({ queue: 'default', discarded: 1 });
  expect(await deadLettersOf(worker)).toEqual([]);
});

test('[Q11] [Q12] A queue runs as many jobs as its concurrency, and a slow queue delays no other', async () => {
  await using engine = await startQueueEngine({ queues: '{slow: {concurrency: 3}, fast: {}}' });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('slow');
  const done: unknown[] = [];
  await worker.serve('fast', (data) => done.push(data));
  for (let n = 0; n < 10; n++) await receiptOf(enqueue(worker, 'slow', n, { queue: 'slow' }));
  for (let n = 0; n < 10; n++) await receiptOf(enqueue(worker, 'fast', n, { queue: 'fast' }));
  await waitFor('the other queue is empty', () => done.length === 10);
  const running = worker.frames.filter(({ type }) => type === 'invokefunction');
  expect(running).toHaveLength(3);
  for (const call of running) worker.answer(call, { result: null });
  for (let n = 0; n < 3; n++)
    await worker.next(
      'invokefunction',
      ({ invocation_id: id }) => !running.some((call: Frame) => call.invocation_id === id),
    );
});

test('[F1] [F2] [F3] A fifo queue runs one job at a time, and each group in the order of its receipts', async () => {
  await using engine = await startQueueEngine({
    queues: '{f: {type: fifo, message_group_field: g, concurrency: 8, max_retries: 2, backoff_ms: 1}}',
  });
  await using worker = await RawWorker.connect(engine.url);
  const seen = new Map<unknown, number[]>();
  let [running, most, failures] = [0, 0, 0];
  worker.socket.on('message', (text) => {
    const frame = JSON.parse(String(text)) as Frame;
    if (frame.type !== 'invokefunction') return;
    most = Math.max(most, ++running);
    setImmediate(() => {
      running--;
      const { g, n } = frame.data as { g: unknown; n: number };
      const fails = n % 5 === 0 && (frame.metadata as { attempt: number }).attempt < 3;
      if (fails) failures++;
      else seen.set(g, [...(seen.get(g) ?? []), n]);
      worker.answer(frame, fails ? { error: { code: 'x', message: 'again' } } : { result: null });
    });
  });
  await worker.register('f');
  const groups = [1, '1', true, 'a'];
  const answers: Promise<string>[] = [];
  for (let n = 0; n < 20; n++) {
    for (const g of groups) answers.push(receiptOf(enqueue(worker, 'f', { g, n }, { queue: 'f' })));
  }
  const receipts = await Promise.all(answers);
  expect([...receipts].sort()).toEqual(receipts);
  await waitFor('all jobs are done', async () => (await statsOf(worker, 'f')).depth === 0, 15_000);
  expect(most).toBe(1);
  expect(failures).toBe(32);
  const inOrder = Array.from({ length: 20 }, (_, n) => n);
  for (const g of groups) expect(seen.get(g)).toEqual(inOrder);
});

test('[F4] The next job of a group runs when its head is a dead letter, which a redrive puts last', async () => {
  await using engine = await startQueueEngine({ queues: '{f: {type: fifo, message_group_field: g, max_retries: 0}}' });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('f');
  const receipts: string[] = [];
  for (const n of [1, 2, 3]) receipts.push(await receiptOf(enqueue(worker, 'f', { g: 'a', n }, { queue: 'f' })));
  worker.answer(await worker.next('invokefunction'), { error: { code: 'x', message: 'no' } });
  const second = await worker.next('invokefunction');
  await worker.call('svc::queue::redrive_message', { queue: 'f', message_id: receipts[0] });
  worker.answer(second, { result: null });
  const order = [second.data];
  for (let n = 0; n < 2; n++) {
    const call = await worker.next('invokefunction');
    order.push(call.data);
    worker.answer(call, { result: null });
  }
  expect(order).toEqual([2, 3, 1].map((n) => ({ g: 'a', n })));
});

test('[F5] A job whose group is an object or an array is refused', async () => {
  await using engine = await startQueueEngine({ queues: '{f: {type: fifo, message_group_field: g}}' });
  await using worker = await RawWorker.connect(engine.url);
  for (const g of [{}, []]) {
    expect((await enqueue(worker, 'f', { g }, { queue: 'f' })).error).toMatchObject({ reason: 'GROUP_FIELD' });
  }
});

test('A handler can end a job at once, or set the wait before its retry', async () => {
  await using engine = await startQueueEngine({ queues: '{default: {backoff_ms: 3600000}}' });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('f');
  await receiptOf(enqueue(worker, 'f', 1));
  const later = { code: 'RETRY_LATER', message: 'not yet', after_ms: 1 };
  worker.answer(await worker.next('invokefunction'), { error: later });
  worker.answer(await worker.next('invokefunction'), { error: { code: 'FATAL', message: 'never' } });
  await waitFor('the job is a dead letter', async () => (await statsOf(worker)).dlq_depth === 1);
  expect((await deadLettersOf(worker))[0]).toMatchObject({ reason: 'fatal', retries: 2 });
});

test('A paused queue runs nothing, and then runs jobs by priority and delay', async () => {
  await using engine = await startQueueEngine({ queues: '{default: {concurrency: 1, priority_field: p}}' });
  await using worker = await RawWorker.connect(engine.url);
  await worker.call('engine::queue::pause', { queue: 'default' });
  const done: unknown[] = [];
  await worker.serve('f', (data) => done.push((data as { n: string }).n));
  await receiptOf(enqueue(worker, 'f', { n: 'late' }, { delay_ms: 3_000 }));
  await receiptOf(enqueue(worker, 'f', { n: 'first' }));
  await receiptOf(enqueue(worker, 'f', { n: 'field', p: 7 }));
  await receiptOf(enqueue(worker, 'f', { n: 'urgent' }, { priority: 9 }));
  expect(await statsOf(worker)).toMatchObject({ paused: true, states: { waiting: 3, delayed: 1, running: 0 } });
  expect(done).toEqual([]);
  await worker.call('engine::queue::resume', { queue: 'default' });
  await waitFor('all have run', () => done.length === 4, 15_000);
  expect(done).toEqual(['urgent', 'field', 'first', 'late']);
});

test('The state and progress of a job can be read by its receipt', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('f');
  const messageReceiptId = await receiptOf(enqueue(worker, 'f', 1));
  const call = await worker.next('invokefunction');
  await worker.call('engine::queue::progress', { messageReceiptId, value: { percent: 40 } });
  const running = await worker.call('engine::queue::job', { messageReceiptId });
  expect(running.result).toMatchObject({ state: 'running', progress: { percent: 40 } });
  worker.answer(call, { result: null });
  expect(await jobThatIs('done', worker, messageReceiptId)).toMatchObject({ progress: { percent: 40 } });
});

test('[QUE-1] The list of queues has the rates of each queue and the age of its oldest job', async () => {
  await using engine = await startQueueEngine();
  await using worker = await RawWorker.connect(engine.url);
  const row = async (): Promise<unknown> => {
    const { result } = await worker.call('engine::queue::list', {});
    return (result as { name: string }[]).find(({ name }) => name === 'default');
  };
  expect(await row()).toMatchObject({ in_per_s: 0, out_per_s: 0, oldest_waiting_ms: null });
  await worker.call('engine::queue::pause', { queue: 'default' });
  await receiptOf(enqueue(worker, 'absent', 1));
  expect(await row()).toMatchObject({ in_per_s: 0.1, out_per_s: 0, oldest_waiting_ms: expect.any(Number) });
  await worker.serve('absent', () => null);
  await worker.call('engine::queue::resume', { queue: 'default' });
  await waitFor('the job is done', async () => (await statsOf(worker)).depth === 0);
  expect(await row()).toMatchObject({ out_per_s: 0.1, oldest_waiting_ms: null });
});
