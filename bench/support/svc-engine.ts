// The server part: an engine in its own process on a free port, as `svc start` runs it. The argument is the
// configuration of `svc-observability` as flow YAML, and the second one the number of router threads. Without them
// nothing is observed, and there is one router.

import { PORT_TLS, startBenchEngine, UNOBSERVED_CONFIG } from './bench-engine.ts';
import { answerReady } from './part.ts';

const [observability = UNOBSERVED_CONFIG, threads = '1'] = process.argv.slice(2);
const observed = `{name: svc-observability, config: ${observability}}`;
const engine = await startBenchEngine(
  `workers: [{name: svc-worker-manager, config: {port: 0${PORT_TLS}}}, ${observed}]`,
  Number(threads),
);
answerReady(async () => ({ url: engine.listeners[0]?.address }));
