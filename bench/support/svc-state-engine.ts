// The server part: an engine with state in the given folder, and the given number of router threads, one by default.

import { startBenchEngine, UNOBSERVED } from './bench-engine.ts';
import { answerReady } from './part.ts';

const [folder, threads = '1'] = process.argv.slice(2);
const text = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - ${UNOBSERVED}
  - {name: svc-state, config: {adapter: {name: kv, config: {file_path: ${folder}}}}}`;
const begunMs = performance.now();
const engine = await startBenchEngine(text, Number(threads));
const readyMs = performance.now() - begunMs;
answerReady(async () => ({ url: engine.listeners[0]?.address, readyMs }));
