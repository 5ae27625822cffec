// `svc.queue(name)` of a page: the same calls, made when their code is loaded.

import type { SvcQueue } from '../sdk/data/queue-client.ts';
import type { Features } from '../sdk/worker/features.ts';
import { loadPart } from './late-parts.ts';

export const createLateQueue: Features['createQueue'] = (worker, name) => {
  let loaded: Promise<SvcQueue> | undefined;
  const queue = (): Promise<SvcQueue> => {
    loaded ??= loadPart(async () => (await import('../sdk/data/queue-client.ts')).createQueueClient(worker, name));
    return loaded;
  };
  return {
    name,
    enqueue: async (...given) => (await queue()).enqueue(...given),
    job: async (...given) => (await queue()).job(...given),
    pause: async () => (await queue()).pause(),
    resume: async () => (await queue()).resume(),
    dlq: {
      list: async (...given) => (await queue()).dlq.list(...given),
      redrive: async (...given) => (await queue()).dlq.redrive(...given),
      redriveAll: async () => (await queue()).dlq.redriveAll(),
      discard: async (...given) => (await queue()).dlq.discard(...given),
      purge: async () => (await queue()).dlq.purge(),
    },
  };
};
