// Contract of whatever keeps the jobs of queues: the same for the builtin store and for brokers.

import { describe, expect, test } from 'vitest';
import type { AdvanceInput, EnqueueAnswer, EnqueueRules } from '../../src/core/queue/shapes.ts';
import type { Advanced, QueueAdapter, TakenJob } from '../../src/modules/queue/adapters/adapter.ts';
import { rawJson } from '../../src/protocol/byte-string.ts';
import { Payload } from '../../src/protocol/payload.ts';
import { waitFor } from '../support/wait-for.ts';

const RULES: EnqueueRules = { maxJobs: 1_000, maxDeadLetters: 100, unroutableTtlMs: 86_400_000 };

let queueCount = 0;

/** One queue of the adapter, by verbs that wait. */
class ContractQueue {
  readonly name = `queue ${++queueCount}`;
  readonly adapter: QueueAdapter;
  readonly #rules: EnqueueRules;

  constructor(adapter: QueueAdapter, rules: Partial<EnqueueRules> = {}) {
    this.adapter = adapter;
    this.#rules = { ...RULES, ...rules };
  }

  enqueue(payload: unknown, options: { delayMs?: number; idempotencyKey?: string } = {}): Promise<EnqueueAnswer> {
    const job = { facts: { functionId: 'f' }, payload: Payload.ofText(rawJson(payload)), ...options };
    return new Promise((resolve) => this.adapter.enqueue(this.name, this.#rules, job, resolve));
  }

  advance(step: Partial<AdvanceInput>): Promise<Advanced> {
    const all = { queue: this.name, settled: [], claim: 0, deliveriesMax: 9, unroutableTtlMs: 86_400_000, ...step };
    return new Promise((resolve, reject) => {
      this.adapter.advance(all, (answer) => (answer === undefined ? reject(new Error('no answer')) : resolve(answer)));
    });
  }

  async claim(count: number): Promise<readonly TakenJob[]> {
    return await waitFor('jobs can be claimed', async () => {
      const { jobs } = await this.advance({ claim: count });
      return jobs.length > 0 && jobs;
    });
  }

  async settle({ seq, token }: TakenJob, how: AdvanceInput['settled'][number]['how'], more = {}): Promise<Advanced> {
    return await this.advance({ settled: [{ seq, token, how, ...more }] });
  }
}

const textOf = ({ payload }: TakenJob): string => payload.toString();

/** `create`: a started adapter. What one cannot do is left out by name, with the reason beside it. */
export function queueContract(name: string, create: () => Promise<QueueAdapter>): void {
  describe(`${name}: an adapter of queues`, () => {
    test('[Q1] hands a job over as it was enqueued, once, under its receipt', async () => {
      const queue = new ContractQueue(await create());
      const answer = await queue.enqueue({ text: 'Zürich', n: 1.5 });
      const [job, ...others] = await queue.claim(5);
      expect(others).toEqual([]);
      expect(job && textOf(job)).toBe('{"text":"Zürich","n":1.5}');
      expect(answer).toEqual({ id: job?.id });
      expect(job).toMatchObject({ attempt: 1, facts: { functionId: 'f' } });
      if (job !== undefined) await queue.settle(job, 'done');
      expect((await queue.advance({ claim: 5 })).jobs).toEqual([]);
    });

    test('[Q4] [Q8] gives a job back after its wait with the next attempt, and ignores the outcome of the first', async () => {
      const queue = new ContractQueue(await create());
      await queue.enqueue(1);
      const [first] = await queue.claim(1);
      if (first === undefined) throw new Error('There is no job');
      await queue.settle(first, 'retry', { afterMs: 20, error: 'no' });
      const [second] = await queue.claim(1);
      expect(second).toMatchObject({ attempt: 2, id: first.id });
      expect((await queue.settle(first, 'done')).stale).toBe(1);
      if (second !== undefined) expect((await queue.settle(second, 'done')).stale).toBe(0);
    });

    test('[Q5] [G2] a job that is given back has used no attempt', async () => {
      const queue = new ContractQueue(await create());
      await queue.enqueue(1);
      const [first] = await queue.claim(1);
      if (first !== undefined) await queue.settle(first, 'release', { isUnsent: true });
      expect(await queue.claim(1)).toMatchObject([{ attempt: 1, id: first?.id }]);
    });

    test('[Q7] parked jobs come back when their function does', async () => {
      const queue = new ContractQueue(await create());
      await queue.enqueue(1);
      const [first] = await queue.claim(1);
      if (first !== undefined) await queue.settle(first, 'park', { isUnsent: true });
      expect((await queue.advance({ claim: 1 })).jobs).toEqual([]);
      expect(await queue.adapter.job(first?.id ?? '')).toMatchObject({ state: 'waiting_for_worker', attempt: 0 });
      expect(await queue.adapter.wake(queue.name, 'f')).toBe(1);
      expect(await queue.claim(1)).toMatchObject([{ attempt: 1 }]);
    });

    test('[Q10] dead letters keep payload and error, and are redriven, edited and discarded', async () => {
      const queue = new ContractQueue(await create());
      for (const n of [1, 2, 3]) await queue.enqueue({ n });
      const [one, two, three] = await queue.claim(3);
      for (const job of [one, two, three]) if (job) await queue.settle(job, 'dead', { error: 'no luck' });
      const list = async () =>
        JSON.parse(Buffer.from(await queue.adapter.deadLetters({ queue: queue.name, offset: 0, limit: 9 })).toString());
      expect(await list()).toMatchObject([3, 2, 1].map((n) => ({ payload: { n }, error: 'no luck', retries: 1 })));
      expect(await queue.adapter.redrive(queue.name, two?.id, Buffer.from('"edited"'))).toBe(1);
      expect((await queue.claim(5)).map(textOf)).toEqual(['"edited"']);
      expect(await queue.adapter.discard(queue.name, three?.id)).toBe(1);
      expect(await queue.adapter.redrive(queue.name)).toBe(1);
      expect((await queue.claim(5)).map(textOf)).toEqual(['{"n":1}']);
      expect(await list()).toEqual([]);
    });

    test('[F2] [F3] hands over one job of a fifo group at a time, in order', async () => {
      const queue = new ContractQueue(await create(), { groupField: 'g' });
      for (const n of [1, 2]) await queue.enqueue({ g: 'a', n });
      await queue.enqueue({ g: 'b', n: 1 });
      const heads = await queue.claim(9);
      expect(heads.map(textOf)).toEqual(['{"g":"a","n":1}', '{"g":"b","n":1}']);
      if (heads[0] !== undefined) await queue.settle(heads[0], 'done');
      expect((await queue.claim(9)).map(textOf)).toEqual(['{"g":"a","n":2}']);
    });

    test('[Q3] the same key gives the same receipt', async () => {
      const queue = new ContractQueue(await create());
      const first = await queue.enqueue(1, { idempotencyKey: 'k' });
      expect(await queue.enqueue(2, { idempotencyKey: 'k' })).toEqual(first);
    });

    test('a paused queue hands over nothing, and says so', async () => {
      const queue = new ContractQueue(await create());
      await queue.adapter.setPaused(queue.name, true);
      await queue.enqueue(1);
      expect(await queue.advance({ claim: 1 })).toMatchObject({ jobs: [], hasMore: false });
      const stats = (await queue.adapter.stats()).find((one) => one.queue === queue.name);
      expect(stats).toMatchObject({ isPaused: true, fresh: 1 });
      await queue.adapter.setPaused(queue.name, false);
      expect(await queue.claim(1)).toHaveLength(1);
    });
  });
}
