// The server part: an engine with state in the given folder.

import { startBenchEngine, UNOBSERVED } from './bench-engine.ts';
import { answerReady } from './part.ts';

const folder = process.argv[2];
const text = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - ${UNOBSERVED}
  - {name: svc-state, config: {adapter: {name: kv, config: {file_path: ${folder}}}}}`;
const begunMs = performance.now();
const engine = await startBenchEngine(text);
const readyMs = performance.now() - begunMs;
answerReady(async () => ({ url: engine.listeners[0]?.address, readyMs }));
