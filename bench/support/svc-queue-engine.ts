// The server part: an engine with queues in the folder that it is given.

import { loadConfig } from '../../src/config/load.ts';
import { declareModules, startEngine } from '../../src/engine/engine.ts';
import { answerReady } from './part.ts';
import { UNOBSERVED } from './unobserved.ts';

const folder = process.argv[2];
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
const loaded = loadConfig({ text, file: 'bench.yaml', env: {}, ...declareModules() });
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const engine = await startEngine({ config: loaded.config, threads: 2, logger: silent });
const readyMs = performance.now() - begunMs;
answerReady(async () => ({ url: engine.listeners[0]?.address, readyMs }));
