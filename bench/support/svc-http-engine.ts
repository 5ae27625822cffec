// An engine with an HTTP port in its own process, as `svc start` runs it.

import { startBenchEngine, UNOBSERVED } from './bench-engine.ts';
import { answerReady } from './part.ts';

const engine = await startBenchEngine(
  `workers: [{name: svc-worker-manager, config: {port: 0}}, {name: svc-http, config: {port: 0}}, ${UNOBSERVED}]`,
);
const addressOf = (scheme: string) => engine.listeners.find(({ address }) => address.startsWith(scheme))?.address;
answerReady(async () => ({ url: addressOf('http:'), workersUrl: addressOf('ws:') }));
