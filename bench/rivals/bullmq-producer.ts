// The producer part of BullMQ: each caller adds its next job when Redis has accepted the last one.

import { createClient } from '@redis/client';
import { Queue } from 'bullmq';

const connection = await createClient({ url: `redis://127.0.0.1:${process.argv[2]}` }).connect();
const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true, attempts: 4 } });
const payload = { text: 'x'.repeat(180) };

async function enqueue(jobs: number, producers: number) {
  const latencies: number[] = [];
  const begunMs = performance.now();
  let sent = 0;
  const produce = async (): Promise<void> => {
    while (sent < jobs) {
      sent++;
      const sentMs = performance.now();
      await queue.add('nothing', payload);
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: producers }, produce));
  const seconds = (performance.now() - begunMs) / 1_000;
  latencies.sort((one, other) => one - other);
  return { perSecond: jobs / seconds, receiptP99Ms: latencies[Math.floor(latencies.length * 0.99)] };
}

process.on('message', async ({ ask, jobs = 0, producers = 1 }) => {
  if (ask === 'ready') await queue.waitUntilReady();
  process.send?.(ask === 'ready' ? {} : await enqueue(jobs, producers));
});
