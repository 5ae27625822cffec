// The server part: an engine with queues in the given folder, and with that many router threads.

import { startBenchEngine, UNOBSERVED } from './bench-engine.ts';
import { answerReady } from './part.ts';

const [folder, threads = '1'] = process.argv.slice(2);
const text = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - ${UNOBSERVED}
  - name: svc-queue
    config:
      queue_configs:
        bench: {concurrency: 64, max_jobs: 2000000}
        groups: {type: fifo, message_group_field: group}
      adapter: {name: builtin, config: {file_path: ${folder}}}`;
const begunMs = performance.now();
const engine = await startBenchEngine(text, Number(threads));
const readyMs = performance.now() - begunMs;
answerReady(async () => ({ url: engine.listeners[0]?.address, readyMs }));
