// The contract of queue adapters: the same for the builtin store and for brokers.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { TakenJob } from '../../../src/core/queue/shapes.ts';
import type { QueueAdapter } from '../../../src/modules/queue/adapters/adapter.ts';
import { type CapabilityName, needed, optionRefusal } from '../../../src/modules/queue/adapters/capabilities.ts';
import { readReceipt, writeReceipt } from '../../../src/store/commands/queue/receipt.ts';
import { ContractQueue, jobsOf } from '../../support/stores/contract-queue.ts';
import { waitFor } from '../../support/wait-for.ts';

const CAPABILITIES: readonly CapabilityName[] = [
  ...(['deadLetters', 'topics', 'pausing', 'jobLookup', 'jobList', 'payloads', 'groups', 'sharing'] as const),
  ...(['localStore', 'idempotencyKeys', 'priorities', 'liveSettings', 'attemptHistory', 'waitCounts'] as const),
];

/** Promises that an adapter may weaken. A suite that does gives the reason, and docs/queues.md names it for users. */
export type WeakerPromise =
  /** Another group continues while the head of one is not done. */
  | 'groups side by side'
  /** A publication reaches every queue or none, and a limit is kept to the job. */
  | 'all or none';

export interface ContractSetup {
  /** A started adapter. */
  readonly create: () => Promise<QueueAdapter>;
  /** Capabilities that it does not have. */
  readonly lacks?: readonly CapabilityName[];
  readonly cannot?: Partial<Readonly<Record<WeakerPromise, string>>>;
}

const textOf = ({ payload }: TakenJob): string => payload.toString();

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

export function queueContract(name: string, { create, lacks = [], cannot = {} }: ContractSetup): void {
  const promised = (promise: WeakerPromise) => (cannot[promise] === undefined ? test : test.skip);
  const without = (promise: WeakerPromise): string =>
    cannot[promise] === undefined ? '' : ` (cannot: ${cannot[promise]})`;
  /** Skipped where the adapter lacks one of them; that its absence is refused is tested for all of them together. */
  const withThe = (...capabilities: readonly CapabilityName[]) =>
    capabilities.some((capability) => lacks.includes(capability)) ? test.skip : test;

  describe(`${name}: an adapter of queues`, () => {
    test('has the capabilities that it is said to have', async () => {
      const adapter = await create();
      expect(CAPABILITIES.filter((capability) => adapter[capability] === undefined)).toEqual(
        CAPABILITIES.filter((capability) => lacks.includes(capability)),
      );
    });

    test('a request that needs an absent capability is refused by its name', async () => {
      const adapter = await create();
      for (const capability of REFUSED.filter((one) => lacks.includes(one))) {
        const message = expect.stringMatching(`^The adapter ${adapter.name} cannot .*the capability ${capability}$`);
        expect(thrownBy(() => needed(adapter, capability))).toMatchObject({ code: 'NOT_SUPPORTED', message });
      }
      const refused = [optionRefusal(adapter, { idempotencyKey: 'k' }), optionRefusal(adapter, { priority: 1 })];
      const reasons = (['idempotencyKeys', 'priorities'] as const).map((one) => lacks.includes(one) && 'NOT_SUPPORTED');
      expect(refused.map((refusal) => refusal?.reason ?? false)).toEqual(reasons);
    });

    test('[Q1] returns a job as it was enqueued, once, under its receipt', async () => {
      const queue = await ContractQueue.open(await create());
      const answer = await queue.enqueue({ text: 'Zürich', n: 1.5 });
      const [job, ...others] = await queue.claim(5);
      expect(others).toEqual([]);
      expect(job && textOf(job)).toBe('{"text":"Zürich","n":1.5}');
      expect(answer).toEqual({ id: job?.id });
      expect(job).toMatchObject({ attempt: 1, facts: { functionId: 'f' } });
      if (job !== undefined) await queue.settle(job, 'done');
      expect((await queue.advance({ claim: 5 })).jobs).toEqual([]);
      await waitFor('nothing is left', async () => jobsOf(await queue.stats()) === 0);
    });

    test('[F3] receipts sort in the order in which the jobs were enqueued', async () => {
      const queue = await ContractQueue.open(await create());
      const receipts = await Promise.all(Array.from({ length: 300 }, (_, n) => queue.receipt(n)));
      expect([...receipts].sort()).toEqual(receipts);
      expect(new Set(receipts).size).toBe(300);
    });

    test('[Q4] [Q8] returns a job after its wait with the next attempt, and ignores the outcome of the first', async () => {
      const queue = await ContractQueue.open(await create());
      await queue.enqueue(1);
      const first = await queue.claimOne();
      const beganMs = performance.now();
      await queue.settle(first, 'retry', { afterMs: 120, error: 'no' });
      const second = await queue.claimOne();
      expect(performance.now() - beganMs).toBeGreaterThanOrEqual(119);
      expect(second).toMatchObject({ attempt: 2, id: first.id });
      expect((await queue.settle(first, 'done')).stale).toBe(1);
      expect((await queue.settle(second, 'done')).stale).toBe(0);
    });

    test('[Q4] holds a delayed job until it is due', async () => {
      const queue = await ContractQueue.open(await create());
      const beganMs = performance.now();
      const id = await queue.receipt('later', { delayMs: 600 });
      await queue.enqueue('now');
      expect(textOf(await queue.claimOne())).toBe('"now"');
      expect(await queue.claimOne()).toMatchObject({ id, attempt: 1 });
      expect(performance.now() - beganMs).toBeGreaterThanOrEqual(599);
    });

    test('[Q5] [G2] a released job has used no attempt', async () => {
      const queue = await ContractQueue.open(await create());
      await queue.enqueue(1);
      const first = await queue.claimOne();
      await queue.settle(first, 'release', { isUnsent: true });
      const second = await queue.claimOne();
      expect(second).toMatchObject({ attempt: 1, id: first.id });
      await queue.settle(second, 'release', { isUnsent: true, afterMs: 20 });
      expect(await queue.claimOne()).toMatchObject({ attempt: 1, id: first.id });
    });

    withThe('deadLetters')('[Q6] a job that was handed over too often becomes a dead letter', async () => {
      const queue = await ContractQueue.open(await create());
      const id = await queue.receipt(1);
      for (let delivery = 0; delivery < 2; delivery++) await queue.settle(await queue.claimOne(), 'release');
      const limits = { claim: 1, deliveriesMax: 2 };
      await waitFor('the job is a dead letter', async () => (await queue.advance(limits)).died === 1);
      expect(await queue.dead()).toMatchObject([{ id, reason: 'poison', retries: 0, deliveries: 2 }]);
    });

    test('[Q7] parked jobs run when a worker offers their function again', async () => {
      const queue = await ContractQueue.open(await create());
      const [id] = [await queue.receipt(1, { functionId: 'f' }), await queue.receipt(2, { functionId: 'g' })];
      for (const job of await queue.claimAll(2)) await queue.settle(job, 'park', { isUnsent: true });
      expect((await queue.advance({ claim: 2 })).jobs).toEqual([]);
      expect(await queue.stats()).toMatchObject({ parked: 2 });
      expect((await queue.openAs({})).parkedFunctions.toSorted()).toEqual(['f', 'g']);
      expect(await queue.adapter.wake(queue.name, 'f')).toBe(1);
      expect(await queue.claim(2)).toMatchObject([{ attempt: 1, id }]);
    });

    withThe('deadLetters')('[Q7] a parked job whose time is over becomes a dead letter', async () => {
      const queue = await ContractQueue.open(await create(), { unroutableTtlMs: 30 });
      await queue.enqueue(1);
      const job = await queue.claimOne();
      await queue.advance({
        settled: [{ seq: job.seq, token: job.token, how: 'park', isUnsent: true }],
        unroutableTtlMs: 30,
      });
      await waitFor('the job has expired', async () => {
        await queue.advance({ claim: 1 });
        return (await queue.stats())?.dead === 1;
      });
      expect(await queue.dead()).toMatchObject([{ id: job.id, reason: 'function_not_found', retries: 0 }]);
    });

    withThe('deadLetters')(
      '[Q10] dead letters keep payload and error, and are redriven, edited and discarded',
      async () => {
        const queue = await ContractQueue.open(await create());
        for (const n of [1, 2, 3]) await queue.enqueue({ n });
        const jobs = await queue.claimAll(3);
        for (const job of jobs) await queue.settle(job, 'dead', { error: 'no luck' });
        const [one, two, three] = jobs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        const expected = [three, two, one].map((job) => ({
          id: job?.id,
          error: 'no luck',
          retries: 1,
          reason: 'failed',
        }));
        expect(await queue.dead()).toMatchObject(expected.map((row, at) => ({ ...row, payload: { n: 3 - at } })));
        expect(await queue.dead({ offset: 1, limit: 1, withoutPayload: true })).toEqual([
          expect.not.objectContaining({ payload: expect.anything() }),
        ]);
        expect(await queue.dead({ id: one?.id ?? '' })).toMatchObject([{ id: one?.id, size_bytes: 7 }]);
        expect(await queue.deadLetters.redrive(queue.name, two?.id, Buffer.from('"edited"'))).toBe(1);
        const again = await queue.claimOne();
        expect(textOf(again)).toBe('"edited"');
        expect(again).toMatchObject({ id: two?.id, attempt: 1 });
        expect(await queue.deadLetters.redrive(queue.name, two?.id)).toBe(0);
        expect(await queue.deadLetters.discard(queue.name, three?.id)).toBe(1);
        expect(await queue.deadLetters.redrive(queue.name)).toBe(1);
        expect((await queue.claim(5)).map(textOf)).toEqual(['{"n":1}']);
        expect(await queue.dead()).toEqual([]);
      },
    );

    withThe('deadLetters')(
      '[Q10] a receipt of another store names no dead letter, though the numbers in it are the same',
      async () => {
        const queue = await ContractQueue.open(await create());
        await queue.enqueue(1);
        const job = await queue.claimOne();
        await queue.settle(job, 'dead', { error: 'no' });
        const receipt = readReceipt(job.id);
        if (receipt === undefined) throw new Error(`${job.id} is no receipt`);
        const foreign = writeReceipt({ ...receipt, salt: receipt.salt ^ 1 });
        expect(await queue.dead({ id: foreign })).toEqual([]);
        expect(await queue.deadLetters.redrive(queue.name, foreign)).toBe(0);
        expect(await queue.deadLetters.discard(queue.name, foreign)).toBe(0);
        expect(await queue.dead({ id: job.id })).toMatchObject([{ id: job.id }]);
      },
    );

    withThe('deadLetters')('[Q10] a purge discards every dead letter', async () => {
      const queue = await ContractQueue.open(await create());
      for (const n of [1, 2]) await queue.enqueue(n);
      for (const job of await queue.claimAll(2)) await queue.settle(job, 'dead', { error: '', reason: 'fatal' });
      expect(await queue.dead()).toMatchObject([{ reason: 'fatal' }, { reason: 'fatal' }]);
      expect(await queue.deadLetters.discard(queue.name)).toBe(2);
      expect(await queue.stats()).toMatchObject({ dead: 0 });
    });

    withThe('deadLetters')(
      '[F1] [F2] [F3] [F4] keeps the order of a fifo group, also over a retry and a dead letter',
      async () => {
        const queue = await ContractQueue.open(await create(), { groupField: 'g' });
        for (const n of [1, 2, 3]) await queue.enqueue({ g: 'a', n });
        const first = await queue.claimOne();
        await queue.settle(first, 'retry', { afterMs: 30, error: 'no' });
        const again = await queue.claimOne();
        expect(again).toMatchObject({ id: first.id, attempt: 2 });
        await queue.settle(again, 'dead', { error: 'no' });
        const second = await queue.claimOne();
        expect(textOf(second)).toBe('{"g":"a","n":2}');
        await queue.settle(second, 'park', { isUnsent: true });
        expect((await queue.advance({ claim: 9 })).jobs).toEqual([]);
        expect(await queue.adapter.wake(queue.name, 'f')).toBe(1);
        const woken = await queue.claimOne();
        expect(woken.id).toBe(second.id);
        expect(await queue.deadLetters.redrive(queue.name)).toBe(1);
        await queue.settle(woken, 'done');
        const third = await queue.claimOne();
        expect(textOf(third)).toBe('{"g":"a","n":3}');
        await queue.settle(third, 'done');
        expect(textOf(await queue.claimOne())).toBe('{"g":"a","n":1}');
      },
    );

    promised('groups side by side')(
      `[F2] [F3] hands over one job of a fifo group at a time, in order${without('groups side by side')}`,
      async () => {
        const queue = await ContractQueue.open(await create(), { groupField: 'g' });
        for (const n of [1, 2]) await queue.enqueue({ g: 'a', n });
        await queue.enqueue({ g: 'b', n: 1 });
        const heads = await queue.claim(9);
        expect(heads.map(textOf)).toEqual(['{"g":"a","n":1}', '{"g":"b","n":1}']);
        if (heads[0] !== undefined) await queue.settle(heads[0], 'done');
        expect((await queue.claim(9)).map(textOf)).toEqual(['{"g":"a","n":2}']);
      },
    );

    test('[Q2] [F5] refuses a fifo job without its group, and keeps nothing of it', async () => {
      const queue = await ContractQueue.open(await create(), { groupField: 'g' });
      for (const payload of [{}, { g: null }, { g: {} }, 1]) {
        expect(await queue.enqueue(payload)).toMatchObject({ reason: 'GROUP_FIELD' });
      }
      expect(jobsOf(await queue.stats())).toBe(0);
    });

    test('[K4] a queue that holds jobs cannot change its kind, an empty one can', async () => {
      const queue = await ContractQueue.open(await create());
      await queue.enqueue(1);
      expect(await queue.openAs({ isFifo: true })).toMatchObject({ isRefused: true });
      await queue.settle(await queue.claimOne(), 'done');
      await waitFor('the queue may change its kind', async () => !(await queue.openAs({ isFifo: true })).isRefused);
    });

    withThe('idempotencyKeys')('[Q3] the same key gives the same receipt', async () => {
      const queue = await ContractQueue.open(await create());
      const first = await queue.enqueue(1, { idempotencyKey: 'k' });
      expect(await queue.enqueue(2, { idempotencyKey: 'k' })).toEqual(first);
      expect(await queue.enqueue(2, { idempotencyKey: 'other' })).not.toEqual(first);
      expect(jobsOf(await queue.stats())).toBe(2);
    });

    withThe('priorities')('hands urgent jobs over first', async () => {
      const queue = await ContractQueue.open(await create(), { priorityField: 'urgency' });
      await queue.enqueue({ n: 1 });
      await queue.enqueue({ n: 2, urgency: 3 });
      await queue.enqueue({ n: 3 }, { priority: 200 });
      expect((await queue.claim(3)).map((job) => JSON.parse(textOf(job)).n)).toEqual([3, 2, 1]);
    });

    withThe('deadLetters')('[Q2] a full queue, and one with too many dead letters, takes no more', async () => {
      const queue = await ContractQueue.open(await create(), { maxJobs: 2, maxDeadLetters: 1 });
      for (const n of [1, 2]) await queue.receipt(n);
      expect(await queue.enqueue(3)).toMatchObject({ reason: 'QUEUE_FULL' });
      const jobs = await queue.claimAll(2);
      for (const job of jobs) await queue.settle(job, 'dead', { error: '' });
      await waitFor('its dead letters stand in the way', async () => {
        const answer = await queue.enqueue(4);
        return 'reason' in answer && /dead letters/.test(answer.message);
      });
      await queue.deadLetters.discard(queue.name);
      await waitFor('the queue takes jobs again', async () => 'id' in (await queue.enqueue(5)));
    });

    withThe('pausing')('a paused queue hands over nothing, and shows that it is paused', async () => {
      const queue = await ContractQueue.open(await create());
      await queue.pausing.setPaused(queue.name, true);
      await queue.enqueue(1);
      expect(await queue.advance({ claim: 1 })).toMatchObject({ jobs: [], hasMore: false });
      expect(await queue.stats()).toMatchObject({ isPaused: true, fresh: 1 });
      await queue.pausing.setPaused(queue.name, false);
      expect(await queue.claim(1)).toHaveLength(1);
    });

    withThe('pausing')('jobs that were handed out before a pause are still answered', async () => {
      const queue = await ContractQueue.open(await create());
      for (const n of [1, 2]) await queue.enqueue(n);
      const job = await queue.claimOne();
      await queue.pausing.setPaused(queue.name, true);
      expect(await queue.settle(job, 'done')).toMatchObject({ stale: 0 });
      await waitFor('the other is left', async () => jobsOf(await queue.stats()) === 1);
    });

    withThe('jobLookup', 'jobList')('finds jobs in every state', async () => {
      const queue = await ContractQueue.open(await create());
      const receipts = [await queue.receipt(1), await queue.receipt(2, { delayMs: 60_000 }), await queue.receipt(3)];
      const job = await queue.claimOne();
      await queue.settle(job, 'park', { isUnsent: true });
      const [, , third] = receipts;
      expect(await queue.claimOne()).toMatchObject({ id: third });
      const states = await Promise.all(receipts.map(async (id) => (await queue.jobLookup.find(id))?.state));
      expect(states).toEqual(['waiting_for_worker', 'delayed', 'running']);
      const page = await queue.jobList.page({ queue: queue.name, limit: 2 });
      expect(page.rows.map(({ messageReceiptId }) => messageReceiptId)).toEqual(receipts.slice(0, 2));
      const rest = await queue.jobList.page({ queue: queue.name, limit: 2, ...(page.next && { after: page.next }) });
      expect(rest.rows.map(({ messageReceiptId }) => messageReceiptId)).toEqual([third]);
      expect(await queue.jobLookup.find('00000000-0000-7000-8000-000000000000')).toBeNull();
    });

    withThe('payloads')('shows the payload of a job as it was enqueued, until the job is done', async () => {
      const queue = await ContractQueue.open(await create());
      const id = await queue.receipt({ n: 1.5 });
      const read = async () => Buffer.from((await needed(queue.adapter, 'payloads').read(id)) ?? []).toString();
      expect(await read()).toBe('{"n":1.5}');
      const job = await queue.claimOne();
      expect(await read()).toBe('{"n":1.5}');
      await queue.settle(job, 'done');
      await waitFor('the queue is removed', async () => (await read()) === '');
    });

    withThe('groups')('lists the lines of a fifo queue, each with its head', async () => {
      const queue = await ContractQueue.open(await create(), { groupField: 'g' });
      const head = await queue.receipt({ g: 'a' });
      await queue.receipt({ g: 'a' });
      const page = await needed(queue.adapter, 'groups').page({ queue: queue.name, groupField: 'g', limit: 9 });
      expect(page).toMatchObject({ groups: [{ value: '"a"', jobs: 2, head: { messageReceiptId: head } }] });
    });

    withThe('sharing')('hands over what no other engine has, and finds no parked jobs of others', async () => {
      const queue = await ContractQueue.open(await create());
      await queue.enqueue(1);
      const sharing = queue.adapter.sharing;
      expect(sharing?.mayHandOver(queue.name, await queue.claimOne())).toBe(true);
      expect(await sharing?.parkedElsewhere(queue.name)).toEqual([]);
    });

    withThe('topics')(
      'a publication gives every queue its copy; a message without a subscriber is kept for the first',
      async () => {
        const adapter = await create();
        const topics = needed(adapter, 'topics');
        const queues = [await ContractQueue.open(adapter), await ContractQueue.open(adapter)];
        const target = ({ name, rules }: ContractQueue, functionId: string, isKept = false) => ({
          ...{ queue: name, rules, functionId, isKept },
          ...{ delayMs: 0, traceparent: TRACE, baggage: 'tenant=a' },
        });
        await topics.publish(
          queues.map((queue, at) => target(queue, `f${at}`)),
          Buffer.from('{"n":1}'),
        );
        for (const [at, queue] of queues.entries()) {
          const job = await queue.claimOne();
          const { functionId, traceparent, baggage } = job.facts;
          expect([textOf(job), functionId]).toEqual(['{"n":1}', `f${at}`]);
          expect([traceparent, baggage]).toEqual([TRACE, 'tenant=a']);
        }
        const [kept, first] = [await ContractQueue.open(adapter), await ContractQueue.open(adapter)];
        await topics.publish([target(kept, 'no_subscriber', true)], Buffer.from('"kept"'));
        expect((await kept.advance({ claim: 1 })).jobs).toEqual([]);
        expect(await topics.handKeptTo(kept.name, first.name, 'late', first.rules)).toBe(1);
        const handed = await first.claimOne();
        const { functionId, traceparent, baggage } = handed.facts;
        expect([textOf(handed), functionId, traceparent, baggage]).toEqual(['"kept"', 'late', TRACE, 'tenant=a']);
        await waitFor('nothing is kept any more', async () => jobsOf(await kept.stats()) === 0);
      },
    );

    withThe('topics')(
      '[Q2] kept messages that do not fit stay for the next subscriber, or until they expire',
      async () => {
        const adapter = await create();
        const topics = needed(adapter, 'topics');
        const kept = await ContractQueue.open(adapter);
        const small = await ContractQueue.open(adapter, { maxJobs: 2 });
        const next = await ContractQueue.open(adapter);
        const { name: queue, rules } = kept;
        const target = { queue, rules, functionId: 'no_subscriber', isKept: true, delayMs: 0 };
        for (const n of [1, 2, 3]) await topics.publish([target], Buffer.from(String(n)));
        expect(await topics.handKeptTo(kept.name, small.name, 'late', small.rules)).toBe(2);
        // Running jobs are still in it.
        expect([textOf(await small.claimOne()), textOf(await small.claimOne())]).toEqual(['1', '2']);
        expect(await topics.handKeptTo(kept.name, small.name, 'late', small.rules)).toBe(0);
        expect(await topics.handKeptTo(kept.name, next.name, 'later', next.rules)).toBe(1);
        expect(textOf(await next.claimOne())).toBe('3');
      },
    );

    (lacks.includes('topics') ? test.skip : promised('all or none'))(
      `[Q2] a publication that one queue refuses reaches no queue${without('all or none')}`,
      async () => {
        const adapter = await create();
        const topics = needed(adapter, 'topics');
        const free = await ContractQueue.open(adapter);
        const full = await ContractQueue.open(adapter, { maxJobs: 1 });
        await full.receipt(1);
        const targets = [free, full].map(({ name: queue, rules }) => ({
          ...{ queue, rules, functionId: 'f', isKept: false },
          delayMs: 0,
        }));
        await expect(topics.publish(targets, Buffer.from('1'))).rejects.toThrow(/full/);
        expect(jobsOf(await free.stats())).toBe(0);
      },
    );

    withThe('topics')('subscriptions are kept until they are removed', async () => {
      const topics = needed(await create(), 'topics');
      const topic = `topic ${randomUUID()}`;
      const own = async () => (await topics.subscriptions()).filter((mark) => mark.topic === topic);
      await topics.subscribe({ topic, functionId: 'f' });
      await topics.subscribe({ topic, functionId: 'f', leftMs: 5 });
      await topics.subscribe({ topic, functionId: 'g' });
      expect((await own()).toSorted((a, b) => (a.functionId < b.functionId ? -1 : 1))).toEqual([
        { topic, functionId: 'f', leftMs: 5 },
        { topic, functionId: 'g' },
      ]);
      await topics.unsubscribe(topic, 'f');
      expect(await own()).toEqual([{ topic, functionId: 'g' }]);
    });
  });
}

const REFUSED = [
  ...(['deadLetters', 'topics', 'pausing', 'jobLookup', 'jobList', 'payloads', 'groups'] as const),
  ...(['idempotencyKeys', 'priorities'] as const),
];

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
