// The adapter `memory`: jobs in the memory of this engine. It shows what an adapter of queues has to do, and is the
// example of docs/contributing/write-an-adapter.md.

import type {
  AdvanceInput,
  DeathReason,
  EnqueueAnswer,
  SettledJob,
  TakenJob,
} from '../../../../src/core/queue/shapes.ts';
import type { Clock } from '../../../../src/effects/clock.ts';
import type { Advanced, QueueAdapter } from '../../../../src/modules/queue/adapters/adapter.ts';
import type {
  DeadLetters,
  JobList,
  JobLookup,
  JobPayloads,
  Pausing,
} from '../../../../src/modules/queue/adapters/capabilities.ts';
import { placementOf } from '../../../../src/modules/queue/adapters/new-jobs.ts';
import { writeReceipt } from '../../../../src/store/commands/queue/receipt.ts';
import { deadRow, jobRow, type MemoryJob } from './memory-job.ts';

interface MemoryQueue {
  readonly number: number;
  isFifo: boolean;
  isPaused: boolean;
  /** In the order in which they run. */
  jobs: MemoryJob[];
  /** Oldest death first. */
  dead: MemoryJob[];
}

export class MemoryQueues implements QueueAdapter {
  readonly name = 'memory';
  readonly trouble = undefined;
  readonly location = {};
  readonly liveSettings = true;
  readonly waitCounts = true;
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs' | 'afterTurn'>;
  readonly #jobsMax: number;
  readonly #queues = new Map<string, MemoryQueue>();
  #lastSeq = 0;
  #lastToken = 0;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs' | 'afterTurn'>, jobsMax: number) {
    this.#clock = clock;
    this.#jobsMax = jobsMax;
  }

  async start(): Promise<void> {}

  stop(): void {}

  open: QueueAdapter['open'] = async (name, { isFifo }) => {
    const queue = this.#queue(name);
    const isRefused = queue.isFifo !== isFifo && queue.jobs.length + queue.dead.length > 0;
    if (!isRefused) queue.isFifo = isFifo;
    const parked = queue.jobs.filter(({ state }) => state === 'waiting_for_worker');
    return { isRefused, parkedFunctions: [...new Set(parked.map(({ facts }) => facts.functionId))] };
  };

  enqueue: QueueAdapter['enqueue'] = (name, rules, job, done) => {
    const answer = (outcome: EnqueueAnswer): void => this.#clock.afterTurn(() => done(outcome));
    const queue = this.#queue(name);
    const bytes = job.payload === undefined ? Buffer.from('null') : job.payload.asJsonBytes();
    if (bytes === undefined) return answer({ reason: 'INVALID_ARGUMENTS', message: 'The payload is not JSON' });
    const placement = placementOf(name, rules, job.priority, bytes);
    if ('reason' in placement) return answer(placement);
    const all = [...this.#queues.values()].reduce((sum, { jobs }) => sum + jobs.length, 0);
    if (queue.jobs.length >= rules.maxJobs || all >= this.#jobsMax) {
      return answer({ reason: 'QUEUE_FULL', message: `Queue '${name}' is full: it holds ${queue.jobs.length} jobs` });
    }
    if (queue.dead.length >= rules.maxDeadLetters) {
      return answer({
        reason: 'QUEUE_FULL',
        message: `Queue '${name}' has ${queue.dead.length} dead letters, its limit`,
      });
    }
    const seq = ++this.#lastSeq;
    const enqueuedMs = this.#clock.nowMs();
    const id = writeReceipt({ atMs: enqueuedMs, seq, queue: queue.number, salt: 0 });
    queue.jobs.push({
      ...{ seq, id, enqueuedMs, facts: job.facts, group: placement.group, token: 0, attempts: 0, deliveries: 0 },
      // The payload is a view of a message that is gone when this call returns.
      payload: Buffer.from(bytes),
      state: job.delayMs === undefined ? 'waiting' : 'delayed',
      dueMs: this.#clock.monotonicMs() + (job.delayMs ?? 0),
    });
    answer({ id });
  };

  advance: QueueAdapter['advance'] = (step, done) => {
    const queue = this.#queue(step.queue);
    const stale = step.settled.filter((outcome) => !this.#settle(queue, outcome, step)).length;
    const diedByOutcome = step.settled.filter(({ how }) => how === 'dead').length;
    const diedByTime = this.#expire(queue);
    const { jobs, poisoned } = this.#claim(queue, step);
    const waiting = queue.jobs.filter(({ state }) => state !== 'waiting' && state !== 'running');
    const answer: Advanced = {
      jobs,
      hasMore: !queue.isPaused && queue.jobs.some((job) => this.#mayRun(queue, job)),
      nextDueMs: waiting.length === 0 ? null : Math.min(...waiting.map(({ dueMs }) => dueMs)),
      stale,
      died: diedByOutcome + diedByTime + poisoned,
    };
    this.#clock.afterTurn(() => done(answer));
  };

  async wake(name: string, functionId: string): Promise<number> {
    const { jobs } = this.#queue(name);
    const parked = jobs.filter((job) => job.state === 'waiting_for_worker' && job.facts.functionId === functionId);
    for (const job of parked) job.state = 'waiting';
    return parked.length;
  }

  async stats() {
    return [...this.#queues].map(([queue, { jobs, dead, isPaused }]) => {
      const count = (wanted: MemoryJob['state']): number => jobs.filter(({ state }) => state === wanted).length;
      return {
        ...{ queue, isPaused, fresh: count('waiting'), ready: 0, blocked: 0, delayed: count('delayed') },
        ...{ retrying: count('retrying'), parked: count('waiting_for_worker'), running: count('running') },
        dead: dead.length,
      };
    });
  }

  readonly deadLetters: DeadLetters = {
    list: async ({ queue, offset, limit, id, withoutPayload = false }) => {
      const newest = this.#queue(queue).dead.toReversed();
      const page = id === undefined ? newest.slice(offset, offset + limit) : newest.filter((job) => job.id === id);
      return Buffer.from(`[${page.map((job) => deadRow(job, withoutPayload)).join()}]`);
    },
    redrive: async (name, id, payload) => {
      const redriven = this.#takeDead(name, id);
      for (const job of redriven) {
        const { error: _error, death: _death, ...rest } = job;
        const edited = payload === undefined ? job.payload : Buffer.from(payload);
        this.#queue(name).jobs.push({ ...rest, payload: edited, state: 'waiting', attempts: 0, deliveries: 0 });
      }
      return redriven.length;
    },
    discard: async (name, id) => this.#takeDead(name, id).length,
  };

  readonly pausing: Pausing = {
    setPaused: async (name, isPaused) => {
      this.#queue(name).isPaused = isPaused;
    },
  };

  readonly jobLookup: JobLookup = {
    find: async (id) => {
      for (const [name, { jobs, dead }] of this.#queues) {
        const job = [...jobs, ...dead].find((one) => one.id === id);
        if (job !== undefined) return jobRow(name, job);
      }
      return null;
    },
  };

  readonly jobList: JobList = {
    searchesPayloads: false,
    page: async ({ queue, after = '', limit }) => {
      const jobs = this.#queue(queue).jobs.filter(({ id }) => id > after);
      const page = jobs.toSorted((one, other) => one.seq - other.seq).slice(0, limit);
      const rows = page.map((job) => jobRow(queue, job));
      const next = rows.at(-1)?.messageReceiptId;
      return { rows, ...(rows.length === limit && next !== undefined && { next }) };
    },
  };

  readonly payloads: JobPayloads = {
    read: async (id) => {
      const all = [...this.#queues.values()].flatMap(({ jobs, dead }) => [...jobs, ...dead]);
      return all.find((job) => job.id === id)?.payload;
    },
  };

  #queue(name: string): MemoryQueue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = { number: this.#queues.size + 1, isFifo: false, isPaused: false, jobs: [], dead: [] };
    this.#queues.set(name, queue);
    return queue;
  }

  /** False: the outcome of another hand-over (Q8). */
  #settle(queue: MemoryQueue, outcome: SettledJob, { unroutableTtlMs }: AdvanceInput): boolean {
    const { seq, token, how, afterMs = 0, error, reason = 'failed', isUnsent } = outcome;
    const job = queue.jobs.find((one) => one.seq === seq && one.state === 'running' && one.token === token);
    if (job === undefined) return false;
    if (error !== undefined) job.error = error;
    if (isUnsent === true) job.deliveries--;
    if (how === 'retry' || how === 'dead') job.attempts++;
    if (how === 'done') queue.jobs.splice(queue.jobs.indexOf(job), 1);
    else if (how === 'dead') this.#bury(queue, job, reason, error ?? '');
    else if (how === 'park') this.#wait(job, 'waiting_for_worker', unroutableTtlMs);
    else if (how === 'retry') this.#wait(job, 'retrying', afterMs);
    else this.#wait(job, 'delayed', afterMs);
    return true;
  }

  #wait(job: MemoryJob, state: MemoryJob['state'], forMs: number): void {
    job.state = state;
    job.dueMs = this.#clock.monotonicMs() + forMs;
  }

  #bury(queue: MemoryQueue, job: MemoryJob, reason: DeathReason, error: string): void {
    queue.jobs.splice(queue.jobs.indexOf(job), 1);
    queue.dead.push({ ...job, state: 'dead', error, death: { reason, atMs: this.#clock.nowMs() } });
  }

  /** Jobs whose function no worker offered in time become dead letters (Q7). */
  #expire(queue: MemoryQueue): number {
    const nowMs = this.#clock.monotonicMs();
    const expired = queue.jobs.filter(({ state, dueMs }) => state === 'waiting_for_worker' && dueMs <= nowMs);
    for (const job of expired) this.#bury(queue, job, 'function_not_found', 'no worker offered the function in time');
    return expired.length;
  }

  #claim(queue: MemoryQueue, { claim, deliveriesMax }: AdvanceInput) {
    const jobs: TakenJob[] = [];
    let poisoned = 0;
    for (const job of [...queue.jobs]) {
      if (queue.isPaused || jobs.length >= claim) break;
      if (!this.#mayRun(queue, job)) continue;
      if (job.deliveries >= deliveriesMax) {
        this.#bury(queue, job, 'poison', `handed over ${job.deliveries} times without an end`);
        poisoned++;
        continue;
      }
      job.state = 'running';
      job.token = ++this.#lastToken;
      job.deliveries++;
      const { seq, token, id, enqueuedMs, facts, payload } = job;
      jobs.push({
        seq,
        token,
        attempt: job.attempts + 1,
        id,
        enqueuedMs,
        facts,
        payload,
        at: 0,
        bytes: payload.length,
      });
    }
    return { jobs, poisoned };
  }

  /** In a FIFO queue only the head of its group may run (F2). */
  #mayRun(queue: MemoryQueue, job: MemoryJob): boolean {
    if (job.state === 'running' || job.state === 'waiting_for_worker') return false;
    if (job.state !== 'waiting' && job.dueMs > this.#clock.monotonicMs()) return false;
    return !queue.isFifo || queue.jobs.find(({ group }) => group === job.group) === job;
  }

  #takeDead(name: string, id: string | undefined): MemoryJob[] {
    const queue = this.#queue(name);
    const taken = queue.dead.filter((job) => id === undefined || job.id === id);
    queue.dead = queue.dead.filter((job) => !taken.includes(job));
    return taken;
  }
}
