// One queue of an adapter, with methods that return promises.

import { expect } from 'vitest';
import type {
  AdvanceInput,
  EnqueueAnswer,
  EnqueueRules,
  QueueStats,
  TakenJob,
} from '../../../src/core/queue/shapes.ts';
import type { Advanced, OpenedQueue, QueueAdapter, QueueKind } from '../../../src/modules/queue/adapters/adapter.ts';
import {
  type DeadLetters,
  type JobList,
  type JobLookup,
  needed,
  type Pausing,
} from '../../../src/modules/queue/adapters/capabilities.ts';
import { rawJson } from '../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../src/protocol/payload/payload.ts';
import { waitFor } from '../wait-for.ts';

const RULES: EnqueueRules = { maxJobs: 1_000, maxDeadLetters: 100, unroutableTtlMs: 86_400_000 };
const RETRY = { maxRetries: 3, backoffMs: 1_000, isExponential: true };

let queueCount = 0;

interface EnqueueOptions {
  readonly delayMs?: number;
  readonly idempotencyKey?: string;
  readonly priority?: number;
  readonly functionId?: string;
}

export class ContractQueue {
  readonly name: string;
  readonly adapter: QueueAdapter;
  readonly rules: EnqueueRules;

  private constructor(name: string, adapter: QueueAdapter, rules: EnqueueRules) {
    this.name = name;
    this.adapter = adapter;
    this.rules = rules;
  }

  static unopened(adapter: QueueAdapter, rules: Partial<EnqueueRules> = {}): ContractQueue {
    return new ContractQueue(`queue ${++queueCount}.#*`, adapter, { ...RULES, ...rules });
  }

  static async open(adapter: QueueAdapter, rules: Partial<EnqueueRules> = {}): Promise<ContractQueue> {
    const queue = ContractQueue.unopened(adapter, rules);
    expect(await queue.openAs({})).toMatchObject({ isRefused: false });
    return queue;
  }

  get deadLetters(): DeadLetters {
    return needed(this.adapter, 'deadLetters');
  }

  get pausing(): Pausing {
    return needed(this.adapter, 'pausing');
  }

  get jobLookup(): JobLookup {
    return needed(this.adapter, 'jobLookup');
  }

  get jobList(): JobList {
    return needed(this.adapter, 'jobList');
  }

  /** The same queue, as another engine has it. */
  through(adapter: QueueAdapter): ContractQueue {
    return new ContractQueue(this.name, adapter, this.rules);
  }

  openAs(kind: Partial<QueueKind>): Promise<OpenedQueue> {
    const { groupField, isOneGroup } = this.rules;
    const isFifo = groupField !== undefined || isOneGroup === true;
    const all = { isFifo, concurrency: 10, retry: RETRY, jobTimeoutMs: 900_000, rules: this.rules, ...kind };
    return this.adapter.open(this.name, all);
  }

  enqueue(payload: unknown, { functionId = 'f', ...options }: EnqueueOptions = {}): Promise<EnqueueAnswer> {
    const job = { facts: { functionId }, payload: Payload.ofText(rawJson(payload)), ...options };
    return new Promise((resolve) => this.adapter.enqueue(this.name, this.rules, job, resolve));
  }

  async receipt(payload: unknown, options: EnqueueOptions = {}): Promise<string> {
    const answer = await this.enqueue(payload, options);
    if ('reason' in answer) throw new Error(`Refused: ${answer.message}`);
    return answer.id;
  }

  advance(step: Partial<AdvanceInput>): Promise<Advanced> {
    const all = { queue: this.name, settled: [], claim: 0, deliveriesMax: 9, unroutableTtlMs: 86_400_000, ...step };
    return new Promise((resolve, reject) => {
      this.adapter.advance(all, (answer) => (answer === undefined ? reject(new Error('no answer')) : resolve(answer)));
    });
  }

  /** As soon as there are any, up to `count`. */
  async claim(count: number, step: Partial<AdvanceInput> = {}): Promise<readonly TakenJob[]> {
    return await waitFor('jobs can be claimed', async () => {
      const { jobs } = await this.advance({ claim: count, ...step });
      return jobs.length > 0 && jobs;
    });
  }

  /** All `count` of them, however they come. */
  async claimAll(count: number): Promise<TakenJob[]> {
    const jobs: TakenJob[] = [];
    while (jobs.length < count) jobs.push(...(await this.claim(count - jobs.length)));
    return jobs;
  }

  async claimOne(step: Partial<AdvanceInput> = {}): Promise<TakenJob> {
    const [job] = await this.claim(1, step);
    if (job === undefined) throw new Error('There is no job');
    return job;
  }

  async settle({ seq, token }: TakenJob, how: AdvanceInput['settled'][number]['how'], more = {}): Promise<Advanced> {
    return await this.advance({ settled: [{ seq, token, how, ...more }] });
  }

  async dead(page: { offset?: number; limit?: number; id?: string; withoutPayload?: boolean } = {}): Promise<unknown> {
    const list = await this.deadLetters.list({ queue: this.name, offset: 0, limit: 9, ...page });
    return JSON.parse(Buffer.from(list).toString());
  }

  async stats() {
    return (await this.adapter.stats()).find(({ queue }) => queue === this.name);
  }
}

/** Wherever they stand, dead letters aside. */
export function jobsOf(stats: QueueStats | undefined): number {
  if (stats === undefined) return 0;
  const { fresh, ready, blocked, delayed, retrying, parked, running } = stats;
  return fresh + ready + blocked + delayed + retrying + parked + running;
}
