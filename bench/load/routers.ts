// What several router threads cost and give, in interleaved rounds of one run: a call that crosses routers against one
// that does not, calls between random pairs, HTTP requests for functions of the engine, calls of state, durable jobs,
// events for many subscribers of a stream, and the start and memory of each further router.
//
//   node bench/load/routers.ts      3 rounds
//   node bench/load/routers.ts 1    1 round

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { registerWorker } from 'svc-sdk';
import { UNOBSERVED_CONFIG } from '../support/bench-engine.ts';
import { cpuUs, type Part, startPart, stop } from '../support/cell.ts';
import { inFolder } from '../support/folder.ts';
import { type HttpServer, measureHttp } from '../support/http-cell.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const WARMUP_MS = 2000;
const MEASURE_MS = 2000;
const CALL = { ask: 'run', payloadBytes: 100, inFlight: 64 };
const CROWD = 16;
const STATE_CALLERS = 256;
const JOBS = 20_000;
const PRODUCERS = 64;
const SUBSCRIBERS = '500';
const EVENT_BYTES = '200';
const REPORT_MS = 400;
const FUNCTION = 'engine::baggage::get_all';
/** As large as the order of a shop: the engine reads it, and wrk only sends it. */
const BODY = JSON.stringify({
  lines: Array.from({ length: 250 }, (_, at) => ({ item: `item-${at}`, count: at, price: at / 8 })),
});

interface Report {
  readonly calls: number;
  readonly seconds: number;
}

interface Health {
  readonly components: {
    readonly router: { readonly details: { readonly routers: readonly { connections: number }[] } };
  };
}

type Figures = Readonly<Record<string, number>>;

const figures = new Map<string, Figures[]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const place of ['local', 'crossing'] as const) note(`${place} pair`, await measurePair(place));
  for (const threads of [1, 2, 4]) note(`random pairs, ${threads}`, await measureCrowd(threads));
  for (const threads of [1, 2, 4]) note(`HTTP, ${threads}`, await measureRoute(threads));
  for (const threads of [1, 2, 4]) note(`HTTP with a body, ${threads}`, await measureRoute(threads, BODY));
  for (const kind of ['get', 'set'] as const) {
    for (const threads of [1, 2, 4])
      note(`state ${kind}, ${threads}`, await inFolder((folder) => measureState(folder, kind, threads)));
  }
  for (const threads of [1, 2, 4]) note(`jobs, ${threads}`, await inFolder((folder) => measureJobs(folder, threads)));
  for (const threads of [1, 2, 4]) note(`fan-out, ${threads}`, await measureFanout(threads));
  for (const threads of [1, 2, 4]) note(`start, ${threads}`, await measureStart(threads));
}
print();

function note(name: string, measured: Figures): void {
  figures.set(name, [...(figures.get(name) ?? []), measured]);
}

/** Caller and responder on one router, or on two. */
async function measurePair(place: 'local' | 'crossing'): Promise<Figures> {
  const engine = await startPart(['bench/support/svc-engine.ts', UNOBSERVED_CONFIG, '2'], []);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  const control = registerWorker(url, { worker_name: 'control' });
  await control.ready();
  const connections = async (): Promise<number[]> => {
    // Each router reports its connections four times a second.
    await wait(REPORT_MS);
    const health = await control.trigger<unknown, Health>({ function_id: 'engine::health::check', payload: {} });
    return health.components.router.details.routers.map((router) => router.connections);
  };
  const start = async (role: string, isWanted: (router: number) => boolean): Promise<readonly [Part, number]> => {
    const before = await connections();
    const part = await startPart(['native-bench/bare-binary-client.ts', role, '0'], [url]);
    await part.ask({ ask: 'ready' });
    for (;;) {
      const router = (await connections()).findIndex((count, at) => count > (before[at] ?? 0));
      if (router === -1) continue;
      if (isWanted(router)) return [part, router];
      await stop(part.child);
      return await start(role, isWanted);
    }
  };
  const [responder, home] = await start('responder', () => true);
  const [caller] = await start('caller', (router) => (router === home) === (place === 'local'));
  await caller.ask({ ...CALL, ms: WARMUP_MS });
  const before = cpuUs(engine.child.pid);
  const { calls, seconds } = await caller.ask<Report>({ ...CALL, ms: MEASURE_MS });
  const cpu = (cpuUs(engine.child.pid) - before) / calls;
  const single = await caller.ask<Report>({ ...CALL, inFlight: 1, ms: MEASURE_MS });
  await control.shutdown();
  for (const part of [caller, responder, engine]) await stop(part.child);
  return { rate: calls / seconds, cpu, waitUs: (single.seconds * 1e6) / single.calls };
}

async function measureCrowd(threads: number): Promise<Figures> {
  const engine = await startPart(['bench/support/svc-engine.ts', UNOBSERVED_CONFIG, String(threads)], []);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  const crowd = await startPart(['bench/support/pairs-crowd.ts', String(CROWD)], [url]);
  await crowd.ask({ ask: 'ready' });
  await crowd.ask({ ...CALL, ms: WARMUP_MS });
  const [before, clientBefore] = [cpuUs(engine.child.pid), cpuUs(crowd.child.pid)];
  const { calls, seconds } = await crowd.ask<Report>({ ...CALL, ms: MEASURE_MS });
  const cpu = (cpuUs(engine.child.pid) - before) / calls;
  const clients = (cpuUs(crowd.child.pid) - clientBefore) / calls;
  for (const part of [crowd, engine]) await stop(part.child);
  return { rate: calls / seconds, cpu, clients };
}

/** A route of a function of the engine: no worker takes part in a request. */
async function measureRoute(threads: number, body?: string): Promise<Figures> {
  let worker: ReturnType<typeof registerWorker> | undefined;
  const {
    requestsPerSecond,
    p99Us,
    cpuUs: cpu,
    clientCpuUs: clients,
  } = await measureHttp({
    name: `${threads} routers`,
    ...(body !== undefined && { body }),
    async start() {
      const engine = await startPart(['bench/support/svc-http-engine.ts', 'unobserved', String(threads), 'iii'], []);
      const { url, workersUrl = '' } = await engine.ask<HttpServer>({ ask: 'ready' });
      worker = registerWorker(workersUrl, { worker_name: 'routes', log: () => {} });
      const http_method = body === undefined ? 'GET' : 'POST';
      worker.registerTrigger({ type: 'http', function_id: FUNCTION, config: { api_path: '/hello', http_method } });
      await worker.ready();
      // Every router gets the route.
      await wait(REPORT_MS);
      return { url, parts: [engine] };
    },
  });
  await worker?.shutdown();
  return { rate: requestsPerSecond, p99: p99Us, cpu, clients };
}

/** Callers on connections that are spread over the routers. */
async function measureState(folder: string, kind: 'get' | 'set', threads: number): Promise<Figures> {
  const engine = await startPart(['bench/support/svc-state-engine.ts', folder, String(threads)], []);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  const callers = await startPart(['bench/support/svc-state-caller.ts'], [url, kind, String(CROWD)]);
  await callers.ask({ ask: 'ready' });
  const load = { ...CALL, inFlight: STATE_CALLERS };
  await callers.ask({ ...load, ms: WARMUP_MS });
  const [before, clientBefore] = [cpuUs(engine.child.pid), cpuUs(callers.child.pid)];
  const { calls, seconds } = await callers.ask<Report>({ ...load, ms: MEASURE_MS });
  const cpu = (cpuUs(engine.child.pid) - before) / calls;
  const clients = (cpuUs(callers.child.pid) - clientBefore) / calls;
  for (const part of [callers, engine]) await stop(part.child);
  return { rate: calls / seconds, cpu, clients };
}

/** Producers and handlers on connections that are spread over the routers. Jobs count when they are durably done. */
async function measureJobs(folder: string, threads: number): Promise<Figures> {
  const engine = await startPart(['bench/support/svc-queue-engine.ts'], [folder, String(threads)]);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  const producer = await startPart(['bench/support/svc-queue-producer.ts'], [url, String(CROWD)]);
  const worker = await startPart(['bench/support/svc-queue-worker.ts'], [url, String(CROWD)]);
  for (const part of [producer, worker]) await part.ask({ ask: 'ready' });
  await producer.ask({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
  await producer.ask({ ask: 'left' });
  const clientTime = (): number => cpuUs(producer.child.pid) + cpuUs(worker.child.pid);
  const [before, clientBefore, begunMs] = [cpuUs(engine.child.pid), clientTime(), performance.now()];
  await producer.ask({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
  await producer.ask({ ask: 'left' });
  const seconds = (performance.now() - begunMs) / 1_000;
  const cpu = (cpuUs(engine.child.pid) - before) / JOBS;
  const clients = (clientTime() - clientBefore) / JOBS;
  for (const part of [producer, worker, engine]) await stop(part.child);
  return { rate: JOBS / seconds, cpu, clients };
}

/** Events of one group for many subscribers, which are spread over the routers. */
async function measureFanout(threads: number): Promise<Figures> {
  const engine = await startPart(['bench/support/fanout-svc.ts', String(threads)], []);
  const { url, publishUrl = '' } = await engine.ask<{ url: string; publishUrl?: string }>({ ask: 'ready' });
  const crowd = await startPart(
    ['bench/support/fanout-crowd.ts', 'svc-batched', url, publishUrl, SUBSCRIBERS, EVENT_BYTES],
    [],
  );
  await crowd.ask({ ask: 'ready' });
  await crowd.ask({ ask: 'publish', ms: WARMUP_MS });
  const [before, clientBefore] = [cpuUs(engine.child.pid), cpuUs(crowd.child.pid)];
  const { deliveries, seconds } = await crowd.ask<{ deliveries: number; seconds: number }>({
    ask: 'publish',
    ms: MEASURE_MS,
  });
  const cpu = (cpuUs(engine.child.pid) - before) / deliveries;
  const clients = (cpuUs(crowd.child.pid) - clientBefore) / deliveries;
  for (const part of [crowd, engine]) await stop(part.child);
  return { rate: deliveries / seconds, cpu, clients };
}

async function measureStart(threads: number): Promise<Figures> {
  const env = { ...process.env, SVC_PORT: '0' };
  const args = ['bin/svc.js', 'start', '--config', 'svc-config.yaml', '--threads', String(threads)];
  const begunMs = performance.now();
  const engine = spawn(process.execPath, args, { env, stdio: 'pipe' });
  await ready(engine);
  const readyMs = performance.now() - begunMs;
  // The garbage of the start is collected first.
  await wait(2000);
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${engine.pid}/status`, 'utf8'))?.[1]) / 1024;
  const gone = once(engine, 'exit');
  engine.kill('SIGTERM');
  await gone;
  return { ready: readyMs, memory };
}

async function ready(engine: ChildProcess): Promise<void> {
  let seen = '';
  await new Promise<void>((resolve) => {
    engine.stderr?.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (/ws:\/\//.test(seen)) resolve();
    });
  });
}

function median(name: string, figure: string): number {
  const values = (figures.get(name) ?? []).map((measured) => measured[figure] ?? Number.NaN).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print(): void {
  const ratio = (name: string, other: string, figure: string): string =>
    (median(name, figure) / median(other, figure)).toFixed(2);
  const shareOf = (name: string): string =>
    (median(name, 'clients') / (median(name, 'clients') + median(name, 'cpu'))).toFixed(2);
  const further = (figure: string, threads: number): string =>
    ((median(`start, ${threads}`, figure) - median('start, 1', figure)) / (threads - 1)).toFixed(0);
  const row = (...cells: readonly unknown[]): string => `| ${cells.join(' | ')} |\n`;
  process.stdout.write(row('what', 'figure', 'target') + row('---', '---', '---'));
  process.stdout.write(
    row('CPU per call, crossing pair against local pair', ratio('crossing pair', 'local pair', 'cpu'), '≤ 2') +
      row('calls of random pairs, 2 routers against 1', ratio('random pairs, 2', 'random pairs, 1', 'rate'), '≥ 0.8') +
      row(`HTTP requests for \`${FUNCTION}\`, 2 routers against 1`, ratio('HTTP, 2', 'HTTP, 1', 'rate'), '≥ 1.5') +
      row('the same with a body of 11 KiB', ratio('HTTP with a body, 2', 'HTTP with a body, 1', 'rate'), '≥ 1.5') +
      row('share of the clients in that CPU', shareOf('HTTP with a body, 1'), '≤ 0.17') +
      row('calls of `state::get`, 2 routers against 1', ratio('state get, 2', 'state get, 1', 'rate'), '') +
      row('calls of `state::set`, 2 routers against 1', ratio('state set, 2', 'state set, 1', 'rate'), '') +
      row('durable jobs, 2 routers against 1', ratio('jobs, 2', 'jobs, 1', 'rate'), '') +
      row(
        'one call at a time, crossing pair longer than local pair, µs',
        (median('crossing pair', 'waitUs') - median('local pair', 'waitUs')).toFixed(0),
        '',
      ) +
      row(
        `events for ${SUBSCRIBERS} subscribers, 2 routers against 1`,
        ratio('fan-out, 2', 'fan-out, 1', 'rate'),
        '≥ 1.5',
      ) +
      row('memory per further router, MiB', further('memory', 4), '≤ 40') +
      row('start time per further router, ms', further('ready', 4), '≤ 60'),
  );
  process.stdout.write(`\n${row('load', 'routers', 'per second', 'engine CPU µs', 'client CPU µs', 'p99 µs')}`);
  process.stdout.write(row('---', '---', '---', '---', '---', '---'));
  for (const place of ['local', 'crossing']) {
    const name = `${place} pair`;
    process.stdout.write(row(name, 2, median(name, 'rate').toFixed(0), median(name, 'cpu').toFixed(2), '', ''));
  }
  for (const load of ['random pairs', 'HTTP', 'HTTP with a body', 'state get', 'state set', 'jobs', 'fan-out']) {
    for (const threads of [1, 2, 4]) {
      const of = (figure: string, digits: number): string => {
        const value = median(`${load}, ${threads}`, figure);
        return Number.isNaN(value) ? '' : value.toFixed(digits);
      };
      process.stdout.write(row(load, threads, of('rate', 0), of('cpu', 2), of('clients', 2), of('p99', 0)));
    }
  }
}
