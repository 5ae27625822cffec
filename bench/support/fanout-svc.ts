// The server part of the fan-out: an engine with a stream server, items in memory.
//
//   fanout-svc.ts [router threads]

import { startBenchEngine, UNOBSERVED } from './bench-engine.ts';
import { answerReady } from './part.ts';

const text = `
limits: {stream: {connections_per_second: 100000}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - ${UNOBSERVED}
  - name: svc-stream
    config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {store_method: in_memory}}}
`;
const engine = await startBenchEngine(text, Number(process.argv[2] ?? 1));
const [workers, streams] = engine.listeners;
answerReady(async () => ({ url: streams?.address, publishUrl: workers?.address, pid: process.pid }));
