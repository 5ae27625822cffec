// An engine with an HTTP port in its own process, as `svc start` runs it: with the default of observability, or without
// it if the argument says so. The second argument is the number of router threads, the third one `compat`, with which
// any result of a function is an answer.

import { PORT_TLS, startBenchEngine, UNOBSERVED } from './bench-engine.ts';
import { answerReady } from './part.ts';

const port = `config: {port: 0${PORT_TLS}}`;
const more = process.argv[2] === 'unobserved' ? `, ${UNOBSERVED}` : '';
const compat = process.argv[4] === 'iii' ? 'compat: iii\n' : '';
const engine = await startBenchEngine(
  `${compat}workers: [{name: svc-worker-manager, ${port}}, {name: svc-http, ${port}}${more}]`,
  Number(process.argv[3] ?? 1),
);
const addressOf = (name: string) => engine.listeners.find((listener) => listener.name === name)?.address;
answerReady(async () => ({ url: addressOf('http'), workersUrl: addressOf('workers') }));
