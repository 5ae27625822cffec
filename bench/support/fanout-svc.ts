// The server part of the fan-out: an engine with a stream server, items in memory.

import { loadConfig } from '../../src/config/load.ts';
import { declareModules, startEngine } from '../../src/engine/engine.ts';
import { answerReady } from './part.ts';
import { UNOBSERVED } from './unobserved.ts';

const loaded = loadConfig({
  text: `
limits: {stream: {connections_per_second: 100000}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - ${UNOBSERVED}
  - name: svc-stream
    config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {store_method: in_memory}}}
`,
  file: 'bench.yaml',
  env: {},
  ...declareModules(),
});
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const engine = await startEngine({ config: loaded.config, threads: 1, logger: silent });
const [workers, streams] = engine.listeners;
answerReady(async () => ({ url: streams?.address, publishUrl: workers?.address, pid: process.pid }));
