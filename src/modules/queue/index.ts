// `svc-queue`: calls that are kept until they have run, in named queues and in queues of topics.

import { isNamedQueue } from '../../core/queue/queue-names.ts';
import { StartFailure } from '../../effects/start-failure.ts';
import { defineModule, type EngineModule, type ModuleContext, type ModuleHealth } from '../module.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import type { RememberedJob } from './adapters/capabilities.ts';
import { createAdapter } from './adapters/catalogue.ts';
import { type QueueModuleConfig, queueDeclaration } from './config.ts';
import { FinishedJobs } from './finished-jobs.ts';
import { queueFunctions } from './functions.ts';
import { Queues } from './queues.ts';
import { groupRefusal, kindRefusal, logForgotten, priorityLack, reconfigureQueues } from './reconfigure.ts';
import type { Attempt } from './run-job.ts';
import { Topics } from './topics.ts';
import { ParkedWatch, WaitingGauge } from './waiting-for-worker.ts';

export const queueModule = defineModule({
  declaration: queueDeclaration,
  create: (context, config, adapter) => createQueues(context, config, createAdapter(context, adapter)),
});

/** The module on a given adapter. */
export function createQueues(
  context: ModuleContext,
  configured: QueueModuleConfig,
  adapter: QueueAdapter,
): EngineModule<QueueModuleConfig> {
  let config = configured;
  const { router, clock, logger } = context;
  const finished = new FinishedJobs();
  const running = new Map<string, Attempt>();
  adapter.recovery?.remembersBy(() => rememberedJobs(finished, running));
  const shared = { router, adapter, clock, logger, finished, running };
  const queues = new Queues(shared, config);
  const topics = new Topics({ ...shared, queues }, config.topic_unroutable_ttl_ms);
  const parked = new ParkedWatch({ adapter, clock, queues, logger });
  const gauge = new WaitingGauge({ adapter, clock, router });
  const hooks: (() => void)[] = [router.takeJobs(queues)];
  const stop = (): void => {
    // A module that is removed leaves nothing in the router.
    for (const unhook of hooks.splice(0)) unhook();
    parked.stop();
    gauge.stop();
    queues.lanes.stop();
    queues.flush();
    topics.stop();
  };
  return {
    functions: queueFunctions({ ...shared, queues, topics, payloadBytesMax: config.max_payload_bytes }),
    triggerTypes: topics.triggerTypes,
    async start() {
      try {
        await openQueues(context, { adapter, queues, topics });
      } catch (error) {
        stop();
        await adapter.stop();
        throw error;
      }
      queues.opened();
      const wake = (): void => {
        for (const runner of queues.all) runner.wakeParked();
      };
      hooks.push(router.onFunctionsChanged(wake));
      // Functions of workers that were connected already, or connected meanwhile.
      wake();
      for (const runner of queues.all) runner.nudge();
      parked.start();
      gauge.start();
    },
    async reconfigure(after) {
      const answer = await reconfigureQueues({ queues, adapter, router, logger }, config, after);
      if (!answer.ok) return answer;
      return {
        ...answer,
        commit() {
          config = after;
          answer.commit();
        },
      };
    },
    drain: () => queues.drain(),
    stop,
    close: async () => await adapter.stop(),
    health: () => healthOf(adapter, queues, running.size),
    listeners: () => [],
  };
}

interface Opened {
  readonly adapter: QueueAdapter;
  readonly queues: Queues;
  readonly topics: Topics;
}

/** Rejects if an existing queue holds jobs that these settings could not run. */
async function openQueues({ router, logger }: ModuleContext, { adapter, queues, topics }: Opened): Promise<void> {
  await adapter.start((queue) => queues.find(queue)?.noteNews());
  for (const runner of queues.all) {
    const { name, isFifo, rules } = runner.settings;
    const lack = priorityLack(adapter, runner.settings);
    if (lack !== undefined) throw new StartFailure(78, lack);
    const offence = router.judgeQueue(name, rules);
    if (offence !== undefined) throw new StartFailure(78, groupRefusal(name, offence));
    const opened = await adapter.open(name, runner.settings);
    if (opened.isRefused) throw new StartFailure(78, kindRefusal(name, isFifo));
    runner.noteParked(opened.parkedFunctions);
  }
  await queues.lanes.start();
  await topics.start();
  for (const stats of await adapter.stats()) {
    if (queues.find(stats.queue) === undefined && isNamedQueue(stats.queue)) logForgotten(logger, stats);
  }
}

/** The longest wait of each queue that has a limit below an hour: by its settings, or by RabbitMQ in drop-in mode. */
function limitedWaits(queues: Queues): { longest_wait_ms?: Record<string, number> } {
  const limits = queues.all.flatMap(({ settings: { name, retry } }) =>
    retry.waitMsMax === undefined ? [] : [[name, retry.waitMsMax] as const],
  );
  return limits.length === 0 ? {} : { longest_wait_ms: Object.fromEntries(limits) };
}

function* rememberedJobs(finished: FinishedJobs, running: ReadonlyMap<string, Attempt>): Iterable<RememberedJob> {
  for (const [id, { job }] of running) yield { id, isDone: false, token: job.token };
  for (const id of finished.ids()) yield { id, isDone: true, token: 0 };
}

function healthOf(adapter: QueueAdapter, queues: Queues, running: number): ModuleHealth {
  const trouble = adapter.trouble ?? adapter.recovery?.trouble;
  return {
    // While jobs are held back they are taken all the same: the engine stays ready for requests.
    status: adapter.trouble !== undefined ? 'unhealthy' : trouble === undefined ? 'healthy' : 'degraded',
    adapter: adapter.name,
    details: {
      ...adapter.location,
      queues: queues.all.filter(({ settings }) => isNamedQueue(settings.name)).length,
      running,
      ...limitedWaits(queues),
      ...(trouble !== undefined && { trouble }),
    },
  };
}
