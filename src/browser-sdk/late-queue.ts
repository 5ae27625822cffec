// `svc.queue(name)` of a page: the same calls, made when the code for them is there.

import type { Features } from '../sdk/features.ts';
import type { SvcQueue } from '../sdk/queue-client.ts';
import { loadPart } from './late-parts.ts';

export const createLateQueue: Features['createQueue'] = (worker, name) => {
  let loaded: Promise<SvcQueue> | undefined;
  const queue = (): Promise<SvcQueue> => {
    loaded ??= loadPart(async () => (await import('../sdk/queue-client.ts')).createQueueClient(worker, name));
    return loaded;
  };
  return {
    name,
    enqueue: async (id, payload, options) => (await queue()).enqueue(id, payload, options),
    job: async (id) => (await queue()).job(id),
    pause: async () => (await queue()).pause(),
    resume: async () => (await queue()).resume(),
    dlq: {
      list: async (page) => (await queue()).dlq.list(page),
      redrive: async (id, edited) => (await queue()).dlq.redrive(id, edited),
      redriveAll: async () => (await queue()).dlq.redriveAll(),
      discard: async (id) => (await queue()).dlq.discard(id),
      purge: async () => (await queue()).dlq.purge(),
    },
  };
};
