// `svc-queue`: calls that are kept until they have worked, in named queues and in queues of topics.

import { StartFailure } from '../../effects/start-failure.ts';
import { placeOf } from '../kv-adapter.ts';
import { adapterConfig, type ChosenAdapter, defineModule, type ModuleContext } from '../module.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import { builtinAdapter } from './adapters/builtin.ts';
import { builtinDeclaration, type QueueModuleConfig, queueDeclaration } from './config.ts';
import { FinishedJobs } from './finished-jobs.ts';
import { queueFunctions } from './functions.ts';
import { isTopicQueue, Queues } from './queues.ts';
import type { Attempt } from './run-job.ts';
import { Topics } from './topics.ts';

export const queueModule = defineModule({
  declaration: queueDeclaration,
  create: (context, config, adapter) => createQueues(context, config, createAdapter(context, adapter)),
});

export function createQueues(context: ModuleContext, config: QueueModuleConfig, adapter: QueueAdapter) {
  const { router, clock, logger } = context;
  const finished = new FinishedJobs();
  const running = new Map<string, Attempt>();
  const parts = { router, adapter, clock, logger, finished, running };
  const queues = new Queues(parts, config.queue_configs, config.max_payload_bytes);
  const topics = new Topics({ ...parts, queues }, config.topic_unroutable_ttl_ms);
  return {
    functions: queueFunctions({ ...parts, queues, topics, payloadBytesMax: config.max_payload_bytes }),
    triggerTypes: topics.triggerTypes,
    async start() {
      await adapter.start();
      for (const runner of queues.all) {
        const { name, isFifo } = runner.settings;
        const opened = await adapter.open(name, { isFifo });
        if (opened.isRefused) throw kindRefused(name, isFifo);
        runner.noteParked(opened.parkedFunctions);
      }
      await topics.start();
      await tellForgotten(context, queues, adapter);
      router.takeJobs(queues);
      router.onFunctionsChanged(() => {
        for (const runner of queues.all) runner.wakeParked();
      });
      for (const runner of queues.all) runner.nudge();
    },
    drain() {
      for (const runner of queues.all) runner.drain();
    },
    stop() {
      for (const runner of queues.all) runner.flush();
      topics.stop();
      adapter.stop();
    },
    health: () => ({
      status: adapter.trouble === undefined ? ('healthy' as const) : ('unhealthy' as const),
      adapter: adapter.name,
      details: {
        ...adapter.facts,
        queues: queues.all.filter(({ settings }) => !isTopicQueue(settings.name)).length,
        running: running.size,
        ...(adapter.trouble !== undefined && { trouble: adapter.trouble }),
      },
    }),
    listeners: () => [],
  };
}

function createAdapter(context: ModuleContext, chosen: ChosenAdapter | undefined): QueueAdapter {
  const builtin = adapterConfig(chosen, builtinDeclaration);
  if (builtin === undefined) throw new Error(`The loader accepted an adapter of queues: ${chosen?.name}`);
  return builtinAdapter(context.stores.open(placeOf(builtin)), context.clock);
}

function kindRefused(name: string, isFifo: boolean): StartFailure {
  const [was, is] = isFifo ? ['standard', 'fifo'] : ['fifo', 'standard'];
  const text = `The queue '${name}' is ${was} and holds jobs: it cannot become ${is} before it is empty`;
  return new StartFailure(78, `${text}. Set its type back, let its jobs end and purge its dead letters`);
}

/** Queues that the file names no more keep their jobs (K4). */
async function tellForgotten({ logger }: ModuleContext, queues: Queues, adapter: QueueAdapter): Promise<void> {
  for (const { queue, fresh, ready, blocked, delayed, retrying, parked, running, dead } of await adapter.stats()) {
    const jobs = fresh + ready + blocked + delayed + retrying + parked + running;
    if (queues.find(queue) !== undefined || isTopicQueue(queue) || jobs + dead === 0) continue;
    logger.warn('A queue that is configured no more keeps its jobs until it is configured again', {
      queue,
      jobs,
      dead_letters: dead,
    });
  }
}
