// An engine with an HTTP port, in a process of its own, as `svc start` runs it.

import { loadConfig } from '../../src/config/load.ts';
import { declareModules, startEngine } from '../../src/engine/engine.ts';
import { answerReady } from './part.ts';
import { UNOBSERVED } from './unobserved.ts';

const loaded = loadConfig({
  text: `workers: [{name: svc-worker-manager, config: {port: 0}}, {name: svc-http, config: {port: 0}}, ${UNOBSERVED}]`,
  file: 'bench.yaml',
  env: {},
  ...declareModules(),
});
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const engine = await startEngine({ config: loaded.config, threads: 2, logger: silent });
const addressOf = (scheme: string) => engine.listeners.find(({ address }) => address.startsWith(scheme))?.address;
answerReady(async () => ({ url: addressOf('http:'), workersUrl: addressOf('ws:') }));
