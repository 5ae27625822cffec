// The queue commands on a store in memory, with a clock that the test sets.

import type {
  AdvanceAnswer,
  AdvanceInput,
  ClaimedJob,
  EnqueueAnswer,
  NewJob,
  QueueStats,
} from '../../src/core/queue/shapes.ts';
import { STORE_LIMITS } from '../../src/store/contract.ts';
import { MemoryStore } from '../../src/store/kv-memory.ts';
import { decodeFramed, encodeFramed } from '../../src/store/queue/framed.ts';
import { QUEUE_COMMANDS } from '../../src/store/queue/index.ts';

const RULES = { maxJobs: 1_000_000, maxDeadLetters: 100_000, unroutableTtlMs: 86_400_000 };

export class QueueStore {
  nowMs = 1_000_000;
  readonly #store = new MemoryStore();
  readonly #queue: string;
  readonly #rules: object;

  constructor(queue = 'q', rules: object = {}) {
    this.#queue = queue;
    this.#rules = { ...RULES, ...rules };
  }

  /** How many records there are, of any kind. */
  get recordCount(): number {
    return this.#store.read((kv) => [...kv.range(Buffer.of(0), Buffer.of(255))].length);
  }

  /** The answer for one job. */
  enqueue(payload: unknown, options: Partial<NewJob> = {}): EnqueueAnswer {
    const bytes = Buffer.from(JSON.stringify(payload));
    const job = { facts: { functionId: 'f' }, at: 0, bytes: bytes.length, ...options };
    const head = { groups: [{ queue: this.#queue, rules: this.#rules, jobs: [job] }], isAllOrNone: false };
    const [answer] = JSON.parse(this.#run('queue::enqueue', encodeFramed(head, bytes)).toString());
    return answer;
  }

  receipt(payload: unknown, options: Partial<NewJob> = {}): string {
    const answer = this.enqueue(payload, options);
    if ('reason' in answer) throw new Error(answer.message);
    return answer.id;
  }

  advance(step: Partial<AdvanceInput>): AdvanceAnswer & { payloads: unknown[] } {
    const all = { queue: this.#queue, settled: [], claim: 0, deliveriesMax: 100, unroutableTtlMs: 86_400_000, ...step };
    const { head, body } = decodeFramed(this.#run('queue::advance', Buffer.from(JSON.stringify(all))));
    const answer = head as AdvanceAnswer;
    const payloads = answer.jobs.map(({ at, bytes }) => JSON.parse(body.toString('utf8', at, at + bytes)));
    return { ...answer, payloads };
  }

  claim(count = 1): ClaimedJob[] {
    return this.advance({ claim: count }).jobs;
  }

  /** Settles one claimed job. */
  settle({ seq, token }: ClaimedJob, how: AdvanceInput['settled'][number]['how'], more: object = {}): AdvanceAnswer {
    return this.advance({ settled: [{ seq, token, how, ...more }] });
  }

  stats(): QueueStats {
    const all: QueueStats[] = this.ask('queue::stats', {});
    const found = all.find(({ queue }) => queue === this.#queue);
    if (found === undefined) throw new Error('There is no such queue');
    return found;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects.
  ask(command: string, input: object = {}): any {
    const result = this.#run(command, Buffer.from(JSON.stringify({ queue: this.#queue, ...input })));
    return result.length === 0 ? undefined : JSON.parse(result.toString());
  }

  move(how: 'redrive' | 'discard', input: object = {}, payload = ''): { moved: number; hasMore: boolean } {
    const bytes = encodeFramed({ queue: this.#queue, how, ...input }, Buffer.from(payload));
    return JSON.parse(this.#run('queue::dead_moves', bytes).toString());
  }

  #run(command: string, bytes: Buffer): Buffer {
    const found = QUEUE_COMMANDS.find(({ name }) => name === command);
    if (found === undefined) throw new Error(`There is no command ${command}`);
    const world = { nowMs: this.nowMs, epoch: 'e', isDropIn: false, limits: STORE_LIMITS, wantsEvents: false };
    const { result, error } = this.#store.write((kv) => found.run(kv, bytes, world));
    if (error !== undefined) throw new Error(error.message);
    return Buffer.from(result ?? Buffer.alloc(0));
  }
}
