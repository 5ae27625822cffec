// Requests per second and latency of the HTTP port with 64 connections: engine and one worker process, against the same
// handler in one process without any hop (Fastify, node:http, bare uWebSockets.js), and with the usual gateway hop
// (Fastify → NATS → responder). Then 10 000 routes against 1. Fresh processes, interleaved rounds, medians.
//
//   npm run bench:http            5 rounds
//   npm run bench:http -- 3       fewer
// Needs nats-server; wrk if there is one.

import { cpuUs, type Part, startPart, stop } from '../support/cell.ts';
import { LOAD_TOOL, loadHttp } from '../support/http-load.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const CONNECTIONS = 64;
/** V8 goes on compiling for that long: in the first two seconds an engine answers two thirds of what it does later. */
const WARMUP_MS = 5000;
const MEASURE_MS = 3000;

interface Stage {
  readonly name: string;
  /** Starts the processes; the first is the one whose processor time is shown. */
  start(): Promise<{ readonly url: string; readonly parts: readonly Part[] }>;
}

interface Figures {
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly cpuUs: number;
}

interface Standing {
  readonly url: string;
  readonly workersUrl?: string;
}

const single = (name: string, file: string): Stage => ({
  name,
  async start() {
    const part = await startPart([file], []);
    return { ...(await part.ask<Standing>({ ask: 'ready' })), parts: [part] };
  },
});

const engine = (name: string, routes: number): Stage => ({
  name,
  async start() {
    const server = await startPart(['bench/support/svc-http-engine.ts'], []);
    const { url, workersUrl = '' } = await server.ask<Standing>({ ask: 'ready' });
    const worker = await startPart(['bench/support/svc-http-worker.ts'], [workersUrl, String(routes)]);
    await worker.ask({ ask: 'ready' });
    return { url, parts: [server, worker] };
  },
});

const gateway: Stage = {
  name: 'Fastify → NATS → responder',
  async start() {
    const nats = await startPart(['bench/rivals/nats-server.ts'], []);
    const { url: address } = await nats.ask<Standing>({ ask: 'ready' });
    const responder = await startPart(['bench/rivals/http-gateway-responder.ts'], [address]);
    await responder.ask({ ask: 'ready' });
    const front = await startPart(['bench/rivals/http-gateway.ts'], [address]);
    return { ...(await front.ask<Standing>({ ask: 'ready' })), parts: [front, responder, nats] };
  },
};

const SVC = engine('svc: engine and worker', 1);
const SVC_CROWDED = engine('svc, 10 000 routes', 10_000);
const STAGES: readonly Stage[] = [
  SVC,
  SVC_CROWDED,
  single('Fastify', 'bench/rivals/http-fastify.ts'),
  single('node:http', 'bench/rivals/http-node.ts'),
  gateway,
  single('bare uWebSockets.js', 'bench/rivals/http-uws.ts'),
];

const results = new Map<string, Figures[]>(STAGES.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round++) {
  for (const stage of round % 2 === 0 ? STAGES : [...STAGES].reverse()) {
    results.get(stage.name)?.push(await measure(stage));
  }
}

process.stdout.write(`Load: ${LOAD_TOOL}, ${CONNECTIONS} connections, ${ROUNDS} rounds\n\n`);
process.stdout.write(
  '| contender | requests/s | p50 µs | p99 µs | CPU µs of the front process | svc is |\n|---|---|---|---|---|---|\n',
);
const ours = medians(SVC.name);
for (const { name } of STAGES) {
  const { requestsPerSecond, p50Us, p99Us, cpuUs: cpu } = medians(name);
  const ratio = (ours.requestsPerSecond / requestsPerSecond).toFixed(2);
  const figures = [requestsPerSecond.toFixed(0), p50Us.toFixed(0), p99Us.toFixed(0), cpu.toFixed(1), `${ratio} times`];
  process.stdout.write(`| ${[name, ...figures].join(' | ')} |\n`);
}

async function measure(stage: Stage): Promise<Figures> {
  const { url, parts } = await stage.start();
  const target = `${url}/users/42`;
  try {
    await loadHttp(target, CONNECTIONS, WARMUP_MS);
    const [front] = parts;
    const before = cpuUs(front?.child.pid);
    const report = await loadHttp(target, CONNECTIONS, MEASURE_MS);
    const spent = cpuUs(front?.child.pid) - before;
    return { ...report, cpuUs: spent / (report.requestsPerSecond * (MEASURE_MS / 1000)) };
  } finally {
    for (const part of parts.toReversed()) await stop(part.child);
  }
}

function medians(name: string): Figures {
  const all = results.get(name) ?? [];
  const of = (pick: (figures: Figures) => number): number => {
    const sorted = all.map(pick).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return {
    requestsPerSecond: of((figures) => figures.requestsPerSecond),
    p50Us: of((figures) => figures.p50Us),
    p99Us: of((figures) => figures.p99Us),
    cpuUs: of((figures) => figures.cpuUs),
  };
}
