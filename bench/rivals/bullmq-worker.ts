// The worker part of BullMQ: concurrency 64, a handler that does nothing. A job is done when Redis has confirmed it.

import { createClient } from '@redis/client';
import { Worker } from 'bullmq';

const connection = await createClient({ url: `redis://127.0.0.1:${process.argv[2]}` }).connect();
const worker = new Worker('bench', async () => null, { connection, concurrency: 64, removeOnComplete: { count: 0 } });
let done = 0;
let wanted = Number.POSITIVE_INFINITY;
worker.on('completed', () => {
  if (++done === wanted) process.send?.({});
});

process.on('message', async ({ ask, jobs = 0 }: { ask: 'ready' | 'done'; jobs?: number }) => {
  if (ask === 'ready') {
    await worker.waitUntilReady();
    process.send?.({});
    return;
  }
  wanted = jobs;
  if (done >= wanted) process.send?.({});
});
