// The server part: an engine of its own process, on any free port, as `svc start` runs it.

import { loadConfig } from '../../dist/src/config/load.js';
import { declareModules, startEngine } from '../../dist/src/engine.js';
import { answerReady } from './part.ts';

const loaded = loadConfig({
  text: 'workers: [{name: svc-worker-manager, config: {port: 0}}]',
  file: 'bench.yaml',
  env: {},
  ...declareModules(),
});
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const engine = await startEngine({ config: loaded.config, threads: 2, logger: silent });
answerReady(async () => ({ url: engine.listeners[0]?.address }));
