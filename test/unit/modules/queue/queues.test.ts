// When the queues of an engine claim jobs, with an adapter that the test controls.

import { expect, test } from 'vitest';
import type { AdvanceInput, QueueStats, TakenJob } from '../../../../src/core/queue/shapes.ts';
import type { Advanced, OpenedQueue } from '../../../../src/modules/queue/adapters/adapter.ts';
import { QUEUE_DEFAULTS, settingsOf } from '../../../../src/modules/queue/config.ts';
import { FinishedJobs } from '../../../../src/modules/queue/finished-jobs.ts';
import { Queues } from '../../../../src/modules/queue/queues.ts';
import type { LaneAdapter } from '../../../../src/modules/queue/restricted-lanes.ts';
import type { Attempt } from '../../../../src/modules/queue/run-job.ts';
import type { RunnerAdapter } from '../../../../src/modules/queue/runner.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const CALM = { event_loop_delay_ms: 0, heap_share: 0, outbound_share: 0, commit_queue: 0 };
const NOTHING: Advanced = { jobs: [], hasMore: false, nextDueMs: null, stale: 0, died: 0 };

function jobs(count: number): TakenJob[] {
  const payload = Buffer.from('1');
  return Array.from({ length: count }, (_, n) => ({
    ...{ seq: n + 1, token: 1, attempt: 1, id: `job ${n + 1}`, enqueuedMs: 0 },
    ...{ facts: { functionId: 'f' }, at: 0, bytes: 1, payload },
  }));
}

class FakeAdapter implements RunnerAdapter, LaneAdapter {
  readonly name = 'fake';
  readonly steps: AdvanceInput[] = [];
  readonly woken: string[] = [];
  /** The answers to the next steps; `undefined`: it could not be carried out. */
  readonly answers: (Advanced | undefined)[] = [];
  /** Claimed jobs that a broker has given to another engine meanwhile. */
  readonly lost = new Set<number>();

  advance(step: AdvanceInput, done: (answer: Advanced | undefined) => void): void {
    this.steps.push(step);
    done(this.answers.length === 0 ? NOTHING : this.answers.shift());
  }

  readonly sharing = {
    mayHandOver: (_queue: string, { seq }: TakenJob) => !this.lost.has(seq),
    parkedElsewhere: async () => [],
  };

  async wake(_queue: string, functionId: string): Promise<number> {
    this.woken.push(functionId);
    throw new Error('not now');
  }

  enqueue(): void {
    throw new Error('No test here has a job');
  }

  async open(): Promise<OpenedQueue> {
    throw new Error('No test here opens a queue');
  }

  async stats(): Promise<readonly QueueStats[]> {
    return [];
  }
}

function setUp() {
  const engine = new EngineInMemory();
  const adapter = new FakeAdapter();
  const { port: router, clock, context } = engine;
  const parts = {
    router,
    adapter,
    clock,
    logger: context.logger,
    finished: new FinishedJobs(),
    running: new Map<string, Attempt>(),
  };
  const settings = settingsOf('work', { ...QUEUE_DEFAULTS, concurrency: 8 });
  const queues = new Queues(parts, {
    queue_configs: {},
    max_payload_bytes: 1024,
    topic_unroutable_ttl_ms: 1_000,
  });
  const feel = (reading: typeof CALM) => context.pressure.take(reading, clock.monotonicMs());
  const step = (): number | undefined => {
    queues.find('work')?.nudge();
    engine.flush();
    return adapter.steps.at(-1)?.claim;
  };
  return { engine, adapter, queues, settings, feel, step };
}

test('[L1] A queue that was slowed down and removed has its full speed when it is added again', () => {
  const { engine, queues, settings, feel, step } = setUp();
  queues.add(settings);
  expect(step()).toBe(8);
  feel({ ...CALM, event_loop_delay_ms: 500 });
  expect(step()).toBe(2);
  queues.remove('work');
  engine.advance(60_000);
  feel(CALM);
  queues.add(settings);
  expect(step()).toBe(8);
});

test('[Q7] A failed wake of jobs is repeated after a second, not in every step', async () => {
  const { engine, adapter, queues, settings, step } = setUp();
  const worker = engine.connect({ ownSdk: true });
  worker.register('f');
  queues.add(settings).noteParked(['f']);
  for (let count = 0; count < 3; count++) {
    await engine.turn();
    step();
  }
  expect(adapter.woken).toEqual(['f']);
  engine.advance(1_000);
  expect(adapter.woken).toEqual(['f', 'f']);
});

test('[Q1] [Q8] Outcomes of a failed step are sent again later, until the store has taken them once', () => {
  const { engine, adapter, queues, settings } = setUp();
  const worker = engine.connect({ ownSdk: true });
  worker.register('f');
  adapter.answers.push({ ...NOTHING, jobs: jobs(2) }, undefined, undefined);
  queues.add(settings).nudge();
  engine.flush();
  for (const call of worker.received('invokefunction')) worker.result(call, null);
  engine.advance(10);
  const outcomes = () => adapter.steps.map(({ settled }) => settled.map(({ seq, how }) => `${seq} ${how}`));
  const all = ['1 done', '2 done'];
  expect(outcomes()).toEqual([[], all]);
  engine.advance(10_000);
  expect(outcomes().slice(0, 4)).toEqual([[], all, all, all]);
  expect(outcomes().slice(4).flat()).toEqual([]);
});

test('[Q7] Jobs that could not be parked are parked later, and woken after that', async () => {
  const { engine, adapter, queues, settings } = setUp();
  adapter.answers.push({ ...NOTHING, jobs: jobs(1) }, undefined);
  queues.add(settings).nudge();
  engine.flush();
  engine.advance(10);
  engine.connect({ ownSdk: true }).register('f');
  await engine.turn();
  expect(adapter.woken).toEqual([]);
  engine.advance(10_000);
  expect(adapter.steps.filter(({ settled }) => settled[0]?.how === 'park')).toHaveLength(2);
  expect(adapter.woken[0]).toBe('f');
});

test('[G1] After the final flush nothing is retried', () => {
  const { engine, adapter, queues, settings } = setUp();
  adapter.answers.push({ ...NOTHING, jobs: jobs(1) }, ...Array.from({ length: 100 }, () => undefined));
  queues.add(settings).nudge();
  engine.flush();
  queues.flush();
  engine.advance(10_000);
  expect(adapter.steps.length).toBeLessThanOrEqual(3);
});

test('[G2] A queue that is added during a drain hands over no job', () => {
  const { engine, adapter, queues, settings } = setUp();
  const worker = engine.connect({ ownSdk: true });
  worker.register('f');
  queues.add(settings);
  queues.drain();
  queues.remove('work');
  adapter.answers.push({ ...NOTHING, jobs: jobs(1) });
  for (const name of ['work', 'new']) queues.add({ ...settings, name }).nudge();
  engine.flush();
  engine.advance(10_000);
  expect(worker.received('invokefunction')).toEqual([]);
  expect(adapter.steps.filter(({ claim }) => claim > 0)).toEqual([]);
});

test('[Q4] A paused queue with due jobs is checked once a second', () => {
  const { engine, adapter, queues, settings } = setUp();
  const due = { ...NOTHING, nextDueMs: engine.clock.monotonicMs() - 5 };
  adapter.answers.push(...Array.from({ length: 2_000 }, () => due));
  queues.add(settings).nudge();
  engine.flush();
  for (let ms = 0; ms < 5_000; ms += 10) {
    engine.advance(10);
    engine.flush();
  }
  expect(adapter.steps.length).toBeGreaterThan(3);
  expect(adapter.steps.length).toBeLessThan(10);
});

test.each([
  ['forward', 3_600_000],
  ['back', -86_400_000],
])('[Q4] [fault 47] A retry is claimed when it is due, even if the wall clock is set %s', (_way, byMs) => {
  const { engine, adapter, queues, settings } = setUp();
  const dueMs = engine.clock.monotonicMs() + 5_000;
  adapter.answers.push(...Array.from({ length: 100 }, () => ({ ...NOTHING, nextDueMs: dueMs })));
  queues.add(settings).nudge();
  engine.flush();
  engine.clock.setWallClock(engine.clock.nowMs() + byMs);
  const steps = adapter.steps.length;
  engine.advance(1_000);
  // The store reads the clocks, because the wall clock counts across a restart.
  expect(adapter.steps).toHaveLength(steps + 1);
  engine.advance(3_990);
  expect(adapter.steps).toHaveLength(steps + 1);
  engine.advance(10);
  expect(adapter.steps).toHaveLength(steps + 2);
});

/** Of a queue that runs one job at a time: the first is with its worker, the second claimed ahead. */
function withOneAhead() {
  const world = setUp();
  const { engine, adapter, queues, settings } = world;
  const worker = engine.connect({ ownSdk: true });
  worker.register('f');
  const runner = queues.add({ ...settings, concurrency: 1 });
  const [one, two, three] = jobs(3);
  adapter.answers.push({ ...NOTHING, jobs: one === undefined ? [] : [one], hasMore: true });
  adapter.answers.push({ ...NOTHING, jobs: two === undefined || three === undefined ? [] : [two, three] });
  runner.nudge();
  engine.flush();
  const handedOver = worker.received('invokefunction');
  const end = (): number => {
    for (const call of handedOver.slice(-1)) worker.result(call, null);
    engine.flush();
    engine.advance(10);
    handedOver.push(...worker.received('invokefunction'));
    return handedOver.length;
  };
  expect(end()).toBe(2);
  const outcomes = () => adapter.steps.flatMap(({ settled }) => settled.map(({ seq, how }) => `${seq} ${how}`));
  return { ...world, runner, end, outcomes };
}

test('[Q5] A paused queue hands over no claimed job, and uses none of its attempts', () => {
  const { engine, runner, end, outcomes } = withOneAhead();
  runner.letGo();
  engine.flush();
  expect(end()).toBe(2);
  expect(outcomes()).toEqual(['1 done', '3 release', '2 done']);
});

test('[Q8] A claimed job that its broker has given to another engine is not handed over', () => {
  const { adapter, end, outcomes } = withOneAhead();
  adapter.lost.add(3);
  expect(end()).toBe(2);
  expect(outcomes().toSorted()).toEqual(['1 done', '2 done', '3 release']);
});
