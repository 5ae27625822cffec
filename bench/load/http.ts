// Requests per second and latency of the HTTP port with 64 connections: engine and one worker process, against the same
// handler in one process without any hop (Fastify, node:http, bare uWebSockets.js), and with the usual gateway hop
// (Fastify → NATS → responder). Then 10 000 routes against 1. Fresh processes, interleaved rounds, medians.
//
//   node bench/load/http.ts            5 rounds
//   node bench/load/http.ts 3       fewer
// Needs nats-server; wrk if there is one.

import { startPart } from '../support/cell.ts';
import {
  CONNECTIONS,
  engineStage,
  type HttpFigures,
  type HttpServer,
  type HttpStage,
  httpMedians,
  LOAD_TOOL,
  measureHttp,
} from '../support/http-cell.ts';

const ROUNDS = Number(process.argv[2] ?? 5);

const single = (name: string, file: string): HttpStage => ({
  name,
  async start() {
    const part = await startPart([file], []);
    return { ...(await part.ask<HttpServer>({ ask: 'ready' })), parts: [part] };
  },
});

const gateway: HttpStage = {
  name: 'Fastify → NATS → responder',
  async start() {
    const nats = await startPart(['bench/rivals/nats-server.ts'], []);
    const { url: address } = await nats.ask<HttpServer>({ ask: 'ready' });
    const responder = await startPart(['bench/rivals/http-gateway-responder.ts'], [address]);
    await responder.ask({ ask: 'ready' });
    const front = await startPart(['bench/rivals/http-gateway.ts'], [address]);
    return { ...(await front.ask<HttpServer>({ ask: 'ready' })), parts: [front, responder, nats] };
  },
};

const SVC = engineStage('svc: engine and worker');
const SVC_UNOBSERVED = engineStage('svc, nothing observed', { isObserved: false });
const SVC_CROWDED = engineStage('svc, 10 000 routes', { routes: 10_000 });
const STAGES: readonly HttpStage[] = [
  SVC,
  SVC_UNOBSERVED,
  SVC_CROWDED,
  single('Fastify', 'bench/rivals/http-fastify.ts'),
  single('node:http', 'bench/rivals/http-node.ts'),
  gateway,
  single('bare uWebSockets.js', 'bench/rivals/http-uws.ts'),
];

const results = new Map<string, HttpFigures[]>(STAGES.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const stage of round % 2 === 0 ? STAGES : [...STAGES].reverse()) {
    results.get(stage.name)?.push(await measureHttp(stage));
  }
}

process.stdout.write(`Load: ${LOAD_TOOL}, ${CONNECTIONS} connections, ${ROUNDS} rounds\n\n`);
process.stdout.write(
  '| contender | requests/s | p50 µs | p99 µs | CPU µs of the front process | svc is |\n|---|---|---|---|---|---|\n',
);
const ours = httpMedians(results.get(SVC.name) ?? []);
for (const { name } of STAGES) {
  const { requestsPerSecond, p50Us, p99Us, cpuUs: cpu } = httpMedians(results.get(name) ?? []);
  const ratio = (ours.requestsPerSecond / requestsPerSecond).toFixed(2);
  const figures = [requestsPerSecond.toFixed(0), p50Us.toFixed(0), p99Us.toFixed(0), cpu.toFixed(1), `${ratio} times`];
  process.stdout.write(`| ${[name, ...figures].join(' | ')} |\n`);
}
