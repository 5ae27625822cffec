// The producer part of queues: each caller sends its next job when it has the receipt of the last one. It also asks the
// engine how many jobs are left, which shows when they are durably done.

import { Enqueue, registerWorker } from 'svc-sdk';

interface Ask {
  readonly ask: 'ready' | 'enqueue' | 'left' | 'pause' | 'resume';
  readonly queue?: string;
  readonly jobs?: number;
  readonly producers?: number;
  /** The answer to `left` comes when no more than this are left. */
  readonly atMost?: number;
  /** Each job has its own group, numbered from here. */
  readonly firstGroup?: number;
}

const LOOK_MS = 5;

const [url, connections = '1'] = process.argv.slice(2);
const svc = registerWorker(url, { worker_name: 'producer' });
const others = Array.from({ length: Number(connections) - 1 }, () => registerWorker(url, { worker_name: 'producer' }));
const all = [svc, ...others];
const text = 'x'.repeat(180);

async function left(queue: string): Promise<number> {
  return (await svc.trigger({ function_id: 'engine::queue::topic_stats', payload: { topic: queue } })).depth;
}

async function enqueue({ queue = 'bench', jobs = 0, producers = 1, firstGroup }: Ask) {
  const action = Enqueue({ queue });
  const latencies: number[] = [];
  const begunMs = performance.now();
  let sent = 0;
  const produce = async (producer: number): Promise<void> => {
    const own = all[producer % all.length] ?? svc;
    while (sent < jobs) {
      const payload = firstGroup === undefined ? { text } : { text, group: firstGroup + sent };
      sent++;
      const sentMs = performance.now();
      await own.trigger({ function_id: 'bench::nothing', payload, action });
      latencies.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: producers }, (_, producer) => produce(producer)));
  const seconds = (performance.now() - begunMs) / 1_000;
  latencies.sort((one, other) => one - other);
  return { perSecond: jobs / seconds, receiptP99Ms: latencies[Math.floor(latencies.length * 0.99)] };
}

async function waitUntilLeft(queue: string, atMost: number): Promise<object> {
  while ((await left(queue)) > atMost) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return {};
}

async function answer(ask: Ask): Promise<object> {
  const { queue = 'bench', atMost = 0 } = ask;
  if (ask.ask === 'enqueue') return await enqueue(ask);
  if (ask.ask === 'left') return await waitUntilLeft(queue, atMost);
  if (ask.ask === 'ready') await Promise.all(all.map((one) => one.ready()));
  else await svc.queue(queue)[ask.ask]();
  return {};
}

process.on('message', async (ask: Ask) => {
  process.send?.(await answer(ask));
});
