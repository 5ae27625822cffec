// The server part: an engine of its own process, on any free port, as `svc start` runs it. An argument is the
// configuration of `svc-observability`, as flow YAML; without one nothing is observed.

import { loadConfig } from '../../src/config/load.ts';
import { declareModules, startEngine } from '../../src/engine/engine.ts';
import { answerReady } from './part.ts';
import { UNOBSERVED_CONFIG } from './unobserved.ts';

const [observability = UNOBSERVED_CONFIG] = process.argv.slice(2);
const observed = `{name: svc-observability, config: ${observability}}`;
const loaded = loadConfig({
  text: `workers: [{name: svc-worker-manager, config: {port: 0}}, ${observed}]`,
  file: 'bench.yaml',
  env: {},
  ...declareModules(),
});
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const engine = await startEngine({ config: loaded.config, threads: 2, logger: silent });
answerReady(async () => ({ url: engine.listeners[0]?.address }));
