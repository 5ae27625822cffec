// Overviews of queues, and pausing and resuming them (modules 6.6, PD-34, QUE-1, QUE-4).

import type { BuiltinAnswers, QueueOverview } from '../../console/api/builtin-answers.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { isNamedQueue, shownName } from '../../core/queue/queue-names.ts';
import type { JobRow, QueueStats } from '../../core/queue/shapes.ts';
import { validateQueue } from '../../generated/module-payloads.ts';
import type { AnyBuiltin } from '../../router/builtin.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import { needed, unreportedBy } from './adapters/capabilities.ts';
import type { QueueSettings } from './config.ts';
import type { QueueAnswers } from './function-answers.ts';
import { innerNames, namedQueue, type QueueFunctionContext } from './function-payloads.ts';
import type { QueueRunner } from './runner.ts';

type OverviewContext = Pick<QueueFunctionContext, 'adapter' | 'queues' | 'topics' | 'clock'>;

/** If more jobs run, no waiting job is searched for. */
const RUNNING_LOOKED_AT_MAX = 1_000;
/** Their oldest jobs are looked up, one by one. Of further queues only the numbers are listed. */
const QUEUES_LOOKED_AT_MAX = 1_000;

/** What a row is made of, read once for all rows: topics can be many thousands. */
interface QueueTotals {
  readonly stats: ReadonlyMap<string, QueueStats>;
  readonly subscribers: ReadonlyMap<string, number>;
}

export function overviewFunctions(context: OverviewContext): AnyBuiltin[] {
  return [
    listTopics(context),
    {
      id: 'engine::queue::list',
      description: 'Lists queues and topics with the number of jobs in each state',
      async handle(): Promise<BuiltinAnswers['engine::queue::list']> {
        const totals = { stats: byQueue(await context.adapter.stats()), subscribers: context.topics.subscribers };
        const held = [...totals.stats.values()].filter((queue) => jobsIn(queue) + queue.dead > 0);
        const names = new Set([
          ...context.queues.all.map(({ settings }) => shownName(settings.name)),
          ...totals.subscribers.keys(),
          ...held.map(({ queue }) => shownName(queue)),
        ]);
        return await Promise.all(
          [...names].map((name, index) => rowOf(name, totals, context, index < QUEUES_LOOKED_AT_MAX)),
        );
      },
    },
    {
      id: 'engine::queue::topic_stats',
      description: 'Returns the number of jobs of a queue or topic in each state',
      async handle(payload): Promise<BuiltinAnswers['engine::queue::topic_stats']> {
        const name = namedQueue(readPayload('engine::queue::topic_stats', validateQueue, payload), 'topic_not_set');
        const { states, dead, isPaused } = sumOf(innerNames(name, context), byQueue(await context.adapter.stats()));
        const runner = context.queues.find(name);
        return {
          depth: Object.values(states).reduce((sum, count) => sum + count, 0),
          consumer_count: runner === undefined ? (context.topics.subscribers.get(name) ?? 0) : 1,
          dlq_depth: dead,
          config: runner === undefined ? null : configOf(runner.settings),
          states,
          paused: isPaused,
        };
      },
    },
    hold('pause', 'Pauses a queue: no more jobs are handed over, and running ones continue', context),
    hold('resume', 'Resumes a paused queue', context),
  ];
}

function listTopics({ adapter, queues, topics }: OverviewContext): AnyBuiltin {
  return {
    id: 'engine::queue::list_topics',
    description: 'Lists queues and topics',
    async handle(): Promise<QueueAnswers['engine::queue::list_topics']> {
      const named = queues.all.filter(({ settings }) => isNamedQueue(settings.name));
      return [
        ...named.map(({ settings }) => ({
          name: settings.name,
          broker_type: 'function_queue',
          subscriber_count: 0,
          type: settings.isFifo ? ('fifo' as const) : ('standard' as const),
        })),
        ...[...topics.subscribers].map(([name, count]) => ({
          name,
          broker_type: adapter.name,
          subscriber_count: count,
        })),
      ];
    },
  };
}

function hold(verb: 'pause' | 'resume', description: string, context: OverviewContext): AnyBuiltin {
  const { adapter, queues, topics } = context;
  const id = `engine::queue::${verb}` as const;
  return {
    id,
    description,
    async handle(payload): Promise<QueueAnswers[typeof id]> {
      const name = namedQueue(readPayload(id, validateQueue, payload));
      if (queues.find(name) === undefined && !topics.subscribers.has(name)) {
        throw new Refusal('NOT_FOUND', `There is no queue or topic '${name}'`);
      }
      const pausing = needed(adapter, 'pausing');
      for (const queue of innerNames(name, context)) {
        await pausing.setPaused(queue, verb === 'pause');
        const runner = queues.find(queue);
        if (verb === 'pause') runner?.letGo();
        runner?.nudge();
      }
      return { queue: name, paused: verb === 'pause' };
    },
  };
}

/** Of one queue, or of all the queues of a topic. */
function sumOf(inner: readonly string[], all: ReadonlyMap<string, QueueStats>) {
  const states = { waiting: 0, delayed: 0, retrying: 0, waiting_for_worker: 0, running: 0 };
  let [dead, isPaused] = [0, false];
  for (const queue of inner) {
    const stats = all.get(queue);
    if (stats === undefined) continue;
    states.waiting += stats.fresh + stats.ready + stats.blocked;
    states.delayed += stats.delayed;
    states.retrying += stats.retrying;
    states.waiting_for_worker += stats.parked;
    states.running += stats.running;
    dead += stats.dead;
    isPaused ||= stats.isPaused;
  }
  return { states, dead, isPaused };
}

/** Totals count since the start of the engine: two answers give the rates between them. */
async function rowOf(
  name: string,
  { stats, subscribers }: QueueTotals,
  context: OverviewContext,
  isLookedAt: boolean,
): Promise<QueueOverview> {
  const { adapter, queues, clock } = context;
  const inner = innerNames(name, context);
  const { states, dead, isPaused } = sumOf(inner, stats);
  const runners = inner.flatMap((queue) => queues.find(queue) ?? []);
  const named = queues.find(name);
  const holding = isLookedAt ? inner.filter((queue) => hasJobs(stats.get(queue))) : [];
  const looked = await Promise.all(holding.map((queue) => oldestJobs(adapter, queue, states.running)));
  const times = looked.flat().map(({ enqueued_at: at }) => at);
  const waiting = looked.flatMap((rows) => rows.find(({ state }) => state !== 'running')?.enqueued_at ?? []);
  const rates = runners.map((runner) => runner.rates);
  return {
    name,
    kind: named === undefined ? 'topic' : 'queue',
    type: named === undefined ? null : named.settings.isFifo ? 'fifo' : 'standard',
    adapter: adapter.name,
    not_told: unreportedBy(adapter),
    ...states,
    dead,
    paused: isPaused,
    held_back: adapter.recovery?.trouble ?? null,
    is_configured: named !== undefined || subscribers.has(name),
    concurrency: slotsOf(named === undefined ? runners : [named]),
    subscribers: subscribers.get(name) ?? 0,
    running_here: runners.reduce((sum, { runningCount }) => sum + runningCount, 0),
    enqueued_total: runners.reduce((sum, { totals }) => sum + totals.enqueued, 0),
    finished_total: runners.reduce((sum, { totals }) => sum + totals.finished, 0),
    failed_total: runners.reduce((sum, { totals }) => sum + totals.failed, 0),
    in_per_s: rates.reduce((sum, { came }) => sum + came, 0),
    out_per_s: rates.reduce((sum, { went }) => sum + went, 0),
    oldest_enqueued_at: times.length === 0 ? null : Math.min(...times),
    oldest_waiting_ms: waiting.length === 0 ? null : Math.max(0, clock.nowMs() - Math.min(...waiting)),
  };
}

function slotsOf(runners: readonly QueueRunner[]): number {
  return runners.reduce((sum, { settings }) => sum + (settings.isFifo ? 1 : settings.concurrency), 0);
}

/** The oldest jobs and, if any wait, the oldest of these. */
async function oldestJobs(adapter: QueueAdapter, queue: string, running: number): Promise<readonly JobRow[]> {
  const limit = Math.min(running, RUNNING_LOOKED_AT_MAX) + 1;
  return (await adapter.jobList?.page({ queue, limit }))?.rows ?? [];
}

function configOf({ isFifo, concurrency, retry, jobTimeoutMs, rules }: QueueSettings) {
  return {
    type: isFifo ? ('fifo' as const) : ('standard' as const),
    concurrency,
    max_retries: retry.maxRetries,
    backoff_ms: retry.backoffMs,
    job_timeout_ms: jobTimeoutMs,
    message_group_field: rules.groupField ?? null,
  };
}

function byQueue(all: readonly QueueStats[]): ReadonlyMap<string, QueueStats> {
  return new Map(all.map((stats) => [stats.queue, stats]));
}

function hasJobs(stats: QueueStats | undefined): boolean {
  return stats !== undefined && jobsIn(stats) > 0;
}

function jobsIn({ fresh, ready, blocked, delayed, retrying, parked, running }: QueueStats): number {
  return fresh + ready + blocked + delayed + retrying + parked + running;
}
