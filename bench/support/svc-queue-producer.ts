// The producer part of queues: each of so many callers sends its next job when it has the receipt of the last. Where
// none was waiting before, a run is over when every job is done, durably.

import { Enqueue, registerWorker } from 'svc-sdk';

interface Ask {
  readonly ask: 'ready' | 'run';
  readonly jobs?: number;
  readonly producers?: number;
}

const svc = registerWorker(process.argv[2], { worker_name: 'producer' });
const action = Enqueue({ queue: 'bench' });
const payload = { text: 'x'.repeat(180) };

async function depth(): Promise<number> {
  const stats = await svc.trigger({ function_id: 'engine::queue::topic_stats', payload: { topic: 'bench' } });
  return stats.depth;
}

async function run(jobs: number, producers: number) {
  const before = await depth();
  const latencies: number[] = [];
  const begunMs = performance.now();
  let sent = 0;
  const produce = async (): Promise<void> => {
    while (sent < jobs) {
      sent++;
      const sentMs = performance.now();
      await svc.trigger({ function_id: 'bench::nothing', payload, action });
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: producers }, produce));
  const seconds = (performance.now() - begunMs) / 1_000;
  const left = await depth();
  if (before === 0) while ((await depth()) > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  const doneSeconds = before === 0 ? (performance.now() - begunMs) / 1_000 : seconds;
  latencies.sort((one, other) => one - other);
  return {
    enqueuedPerSecond: jobs / seconds,
    donePerSecond: (before === 0 ? jobs : before + jobs - left) / doneSeconds,
    receiptP99Ms: latencies[Math.floor(latencies.length * 0.99)],
  };
}

process.on('message', async ({ ask, jobs = 0, producers = 0 }: Ask) => {
  if (ask === 'ready') await svc.ready();
  process.send?.(ask === 'ready' ? {} : await run(jobs, producers));
});
