// Overviews of queues, and pausing and resuming them (modules 6.6, PD-34, QUE-1, QUE-4).

import type { BuiltinAnswers, QueueOverview } from '../../console-api/builtin-answers.ts';
import { readPayload } from '../../core/calls/read-payload.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import type { JobRow, QueueStats } from '../../core/queue/shapes.ts';
import { validateQueue } from '../../generated/queue-payloads.ts';
import type { AnyBuiltin } from '../../router/builtin.ts';
import { type QueueAdapter, secretsOf } from './adapters/adapter.ts';
import type { QueueSettings } from './config.ts';
import { type FunctionParts, innerNames, namedQueue, shownName } from './function-parts.ts';
import { isTopicQueue } from './queues.ts';

type OverviewParts = Pick<FunctionParts, 'adapter' | 'queues' | 'topics' | 'clock'>;

/** If more jobs run, no waiting job is searched for. */
const RUNNING_LOOKED_AT_MAX = 1_000;

export function overviewFunctions(parts: OverviewParts): AnyBuiltin[] {
  return [
    listTopics(parts),
    {
      id: 'engine::queue::list',
      description: 'Lists queues and topics with the number of jobs in each state',
      async handle(): Promise<BuiltinAnswers['engine::queue::list']> {
        const stats = await parts.adapter.stats();
        const names = new Set([
          ...parts.queues.all.map(({ settings }) => shownName(settings.name)),
          ...parts.topics.subscribers.keys(),
          ...stats.filter((queue) => jobsIn(queue) + queue.dead > 0).map(({ queue }) => shownName(queue)),
        ]);
        return await Promise.all([...names].map((name) => rowOf(name, stats, parts)));
      },
    },
    {
      id: 'engine::queue::topic_stats',
      description: 'Returns the number of jobs of a queue or topic in each state',
      async handle(payload): Promise<BuiltinAnswers['engine::queue::topic_stats']> {
        const name = namedQueue(readPayload('engine::queue::topic_stats', validateQueue, payload), 'topic_not_set');
        const { states, dead, isPaused } = sumOf(name, await parts.adapter.stats(), parts);
        const runner = parts.queues.find(name);
        return {
          depth: Object.values(states).reduce((sum, count) => sum + count, 0),
          consumer_count: runner === undefined ? (parts.topics.subscribers.get(name) ?? 0) : 1,
          dlq_depth: dead,
          config: runner === undefined ? null : configOf(runner.settings),
          states,
          paused: isPaused,
        };
      },
    },
    hold('pause', 'Pauses a queue: no more jobs are handed over, and running ones continue', parts),
    hold('resume', 'Resumes a paused queue', parts),
  ];
}

function listTopics({ adapter, queues, topics }: OverviewParts): AnyBuiltin {
  return {
    id: 'engine::queue::list_topics',
    description: 'Lists queues and topics',
    async handle() {
      const named = queues.all.filter(({ settings }) => !isTopicQueue(settings.name));
      return [
        ...named.map(({ settings }) => ({
          name: settings.name,
          broker_type: 'function_queue',
          subscriber_count: 0,
          type: settings.isFifo ? 'fifo' : 'standard',
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

function hold(verb: 'pause' | 'resume', description: string, parts: OverviewParts): AnyBuiltin {
  const { adapter, queues, topics } = parts;
  const id = `engine::queue::${verb}`;
  return {
    id,
    description,
    async handle(payload) {
      const name = namedQueue(readPayload(id, validateQueue, payload));
      if (queues.find(name) === undefined && !topics.subscribers.has(name)) {
        throw new Refusal('NOT_FOUND', `There is no queue or topic '${name}'`);
      }
      for (const queue of innerNames(name, parts)) {
        await adapter.setPaused(queue, verb === 'pause');
        const runner = queues.find(queue);
        if (verb === 'pause') runner?.letGo();
        runner?.nudge();
      }
      return { queue: name, paused: verb === 'pause' };
    },
  };
}

/** Of one queue, or of all the queues of a topic. */
function sumOf(name: string, all: readonly QueueStats[], parts: OverviewParts) {
  const inner = new Set(innerNames(name, parts));
  const states = { waiting: 0, delayed: 0, retrying: 0, waiting_for_worker: 0, running: 0 };
  let [dead, isPaused] = [0, false];
  for (const stats of all) {
    if (!inner.has(stats.queue)) continue;
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
async function rowOf(name: string, stats: readonly QueueStats[], parts: OverviewParts): Promise<QueueOverview> {
  const { adapter, queues, topics, clock } = parts;
  const { states, dead, isPaused } = sumOf(name, stats, parts);
  const inner = innerNames(name, parts);
  const runners = inner.flatMap((queue) => queues.find(queue) ?? []);
  const named = queues.find(name);
  const looked = await Promise.all(inner.map((queue) => oldestJobs(adapter, queue, states.running)));
  const times = looked.flat().map(({ enqueued_at: at }) => at);
  const waiting = looked.flatMap((rows) => rows.find(({ state }) => state !== 'running')?.enqueued_at ?? []);
  const rates = runners.map((runner) => runner.rates);
  return {
    name,
    kind: named === undefined ? 'topic' : 'queue',
    type: named === undefined ? null : named.settings.isFifo ? 'fifo' : 'standard',
    adapter: adapter.name,
    not_told: secretsOf(adapter),
    ...states,
    dead,
    paused: isPaused,
    is_configured: named !== undefined || topics.subscribers.has(name),
    concurrency: runners.reduce((sum, { settings }) => sum + (settings.isFifo ? 1 : settings.concurrency), 0),
    subscribers: topics.subscribers.get(name) ?? 0,
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

/** The oldest jobs and, if any wait, the oldest of these. */
async function oldestJobs(adapter: QueueAdapter, queue: string, running: number): Promise<readonly JobRow[]> {
  try {
    const { rows } = await adapter.jobs({ queue, limit: Math.min(running, RUNNING_LOOKED_AT_MAX) + 1 });
    return rows;
  } catch (error) {
    // A broker may not report which jobs wait.
    if (error instanceof Refusal && error.code === 'NOT_SUPPORTED') return [];
    throw error;
  }
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

function jobsIn({ fresh, ready, blocked, delayed, retrying, parked, running }: QueueStats): number {
  return fresh + ready + blocked + delayed + retrying + parked + running;
}
