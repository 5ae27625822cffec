// Calls between two engines of a cluster on one machine: what one adds to a call on the same engine, and against a
// plain request over the same NATS. Then what the functions of another engine cost. Fresh processes, interleaved
// rounds, medians. Needs nats-server.
//
//   node bench/cluster/cluster.ts            5 rounds
//   node bench/cluster/cluster.ts 3       fewer

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { registerWorker } from 'svc-sdk';
import { cpuUs, type Part, startPart, stop } from '../support/cell.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const FUNCTIONS = 10_000;
const WARM_IN_FLIGHT = 64;

interface Ready {
  readonly url?: string;
  readonly pid?: number;
}

interface Stage {
  readonly name: string;
  start(): Promise<Started>;
}

interface Started {
  readonly caller: Part;
  /** Processes of engines, whose processor time counts. */
  readonly engines: readonly (number | undefined)[];
  readonly nats: number | undefined;
  readonly all: readonly Part[];
}

interface Figures {
  readonly callsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly engineUs: number;
  readonly natsUs: number;
}

const NATS_SERVER = ['bench/rivals/nats-server.ts', 'jetstream'];
const ENGINE = ['bench/support/svc-engine.ts'];
const CLUSTER_ENGINE = ['bench/cluster/cluster-engine.ts'];
const WEIGHED_ENGINE = ['--expose-gc', ...CLUSTER_ENGINE];
const RESPONDER = ['bench/support/svc-responder.ts'];
const CALLER = ['bench/support/svc-caller.ts'];

async function started(command: readonly string[], args: readonly string[]): Promise<Part & Ready> {
  const part = await startPart(command, args);
  return { ...part, ...(await part.ask<Ready>({ ask: 'ready' })) };
}

async function natsServer(): Promise<Part & Ready> {
  return await started(NATS_SERVER, []);
}

const urlOf = ({ url }: Ready): string => url ?? '';

const alone: Stage = {
  name: 'one engine, cluster off',
  async start() {
    const engine = await started(ENGINE, []);
    const responder = await started(RESPONDER, [urlOf(engine)]);
    const caller = await started(CALLER, [urlOf(engine)]);
    return { caller, engines: [engine.child.pid], nats: undefined, all: [caller, responder, engine] };
  },
};

const member: Stage = {
  name: 'one engine, cluster on',
  async start() {
    const nats = await natsServer();
    const engine = await started(CLUSTER_ENGINE, [urlOf(nats), newPrefix()]);
    const responder = await started(RESPONDER, [urlOf(engine)]);
    const caller = await started(CALLER, [urlOf(engine)]);
    return { caller, engines: [engine.child.pid], nats: nats.pid, all: [caller, responder, engine, nats] };
  },
};

const remote = twoEngines('two engines, worker on the other one', 1);
const remoteOfRouters = twoEngines('the same with two routers each', 2);

function twoEngines(name: string, threads: number): Stage {
  return { name, start: () => startTwo(String(threads)) };
}

async function startTwo(threads: string): Promise<Started> {
  const nats = await natsServer();
  const prefix = newPrefix();
  const near = await started(CLUSTER_ENGINE, [urlOf(nats), prefix, threads]);
  const far = await started(CLUSTER_ENGINE, [urlOf(nats), prefix, threads]);
  const responder = await started(RESPONDER, [urlOf(far)]);
  const caller = await started(CALLER, [urlOf(near)]);
  const engines = [near.child.pid, far.child.pid];
  return { caller, engines, nats: nats.pid, all: [caller, responder, near, far, nats] };
}

const plain: Stage = {
  name: 'NATS request and reply',
  async start() {
    const nats = await natsServer();
    const responder = await started(['bench/rivals/nats-responder.ts'], [urlOf(nats)]);
    const caller = await started(['bench/rivals/nats-caller.ts'], [urlOf(nats)]);
    return { caller, engines: [], nats: nats.pid, all: [caller, responder, nats] };
  },
};

function newPrefix(): string {
  return `bench-${randomUUID().slice(0, 8)}`;
}

async function measure(stage: Stage, inFlight: number): Promise<Figures> {
  const { caller, engines, nats, all } = await stage.start();
  const run = (ms: number, inFlightNow = inFlight) =>
    caller.ask<{ calls: number; seconds: number; p50Us: number; p99Us: number }>({
      ...{ ask: 'run', payloadBytes: 100, inFlight: inFlightNow, ms },
    });
  const engineTime = () => engines.map(cpuUs).reduce((sum, one) => sum + one, 0);
  try {
    // With one call in flight it would take 12 s until the code of two engines is compiled.
    await run(3_000, WARM_IN_FLIGHT);
    await run(1_000);
    const before = { engines: engineTime(), nats: cpuUs(nats) };
    const { calls, seconds, p50Us, p99Us } = await run(3_000);
    return {
      callsPerSecond: calls / seconds,
      p50Us,
      p99Us,
      engineUs: (engineTime() - before.engines) / calls,
      natsUs: (cpuUs(nats) - before.nats) / calls,
    };
  } finally {
    for (const part of all) await stop(part.child);
  }
}

const STAGES = [alone, member, remote, plain, remoteOfRouters];

process.stdout.write(`100 B, ${ROUNDS} rounds\n\n`);
process.stdout.write('| in flight | calls | calls/s | p50 µs | p99 µs | engines, CPU µs | NATS, CPU µs |\n');
process.stdout.write('|---|---|---|---|---|---|---|\n');
const ratios: string[] = [];
for (const inFlight of [1, 256]) {
  const results = new Map<string, Figures[]>(STAGES.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const stage of round % 2 === 0 ? STAGES : [...STAGES].reverse()) {
      results.get(stage.name)?.push(await measure(stage, inFlight));
    }
  }
  const medians = STAGES.map(({ name }) => {
    const all = results.get(name) ?? [];
    const median = (pick: (one: Figures) => number): number => medianOf(all.map(pick));
    return {
      callsPerSecond: median((one) => one.callsPerSecond),
      p50Us: median((one) => one.p50Us),
      p99Us: median((one) => one.p99Us),
      engineUs: median((one) => one.engineUs),
      natsUs: median((one) => one.natsUs),
    };
  });
  for (const [index, figures] of medians.entries()) {
    const { callsPerSecond, p50Us, p99Us, engineUs, natsUs } = figures;
    const cells = [
      callsPerSecond.toFixed(0),
      p50Us.toFixed(0),
      p99Us.toFixed(0),
      engineUs.toFixed(1),
      natsUs.toFixed(1),
    ];
    process.stdout.write(`| ${[inFlight, STAGES[index]?.name, ...cells].join(' | ')} |\n`);
  }
  const [off, on, far, nats] = medians;
  if (off === undefined || on === undefined || far === undefined || nats === undefined) throw new Error('no result');
  const { p50Us, p99Us, callsPerSecond, engineUs } = far;
  const figures = [
    (p50Us - on.p50Us).toFixed(0),
    (p99Us - on.p99Us).toFixed(0),
    (callsPerSecond / nats.callsPerSecond).toFixed(2),
    (callsPerSecond / on.callsPerSecond).toFixed(2),
    (engineUs / on.engineUs).toFixed(2),
    (on.callsPerSecond / off.callsPerSecond).toFixed(2),
  ];
  ratios.push(`| ${[inFlight, ...figures].join(' | ')} |`);
}
const columns = [
  ...['in flight', 'added p50 µs', 'added p99 µs', 'calls/s: remote : NATS', 'remote : local'],
  ...['engine CPU: remote : local', 'cluster on : off'],
];
process.stdout.write(`\n| ${columns.join(' | ')} |\n|${'---|'.repeat(columns.length)}\n${ratios.join('\n')}\n`);

const copies: { seconds: number; mib: number; oneMs: number }[] = [];
for (let round = 0; round < ROUNDS; round++) copies.push(await measureCopy());
const copy = (pick: (one: (typeof copies)[number]) => number): string => medianOf(copies.map(pick)).toFixed(1);
process.stdout.write(
  `\n| ${FUNCTIONS} functions of another engine | figure |\n|---|---|\n` +
    `| seconds until the last can be called | ${copy(({ seconds }) => seconds)} |\n` +
    `| MiB of heap, after a collection | ${copy(({ mib }) => mib)} |\n` +
    `| milliseconds until one further function can be called | ${copy(({ oneMs }) => oneMs)} |\n`,
);

async function measureCopy() {
  const nats = await natsServer();
  const prefix = newPrefix();
  const near = await started(WEIGHED_ENGINE, [urlOf(nats), prefix]);
  const far = await started(CLUSTER_ENGINE, [urlOf(nats), prefix]);
  const crowds = [
    await started(['bench/cluster/crowd.ts', String(FUNCTIONS / 2), '0'], [urlOf(far)]),
    await started(['bench/cluster/crowd.ts', String(FUNCTIONS / 2), String(FUNCTIONS / 2)], [urlOf(far)]),
  ];
  const caller = registerWorker(urlOf(near), { worker_name: 'caller', handle_signals: false });
  await caller.ready();
  const before = await near.ask<{ mib: number }>({ ask: 'heap' });
  const startMs = performance.now();
  await Promise.all(crowds.map((crowd) => crowd.ask({ ask: 'register' })));
  await untilCallable(caller, `crowd::function-${FUNCTIONS / 2 - 1}`);
  await untilCallable(caller, `crowd::function-${FUNCTIONS - 1}`);
  const seconds = (performance.now() - startMs) / 1_000;
  const mib = (await near.ask<{ mib: number }>({ ask: 'heap' })).mib - before.mib;
  const other = registerWorker(urlOf(far), { worker_name: 'other', handle_signals: false });
  await other.ready();
  const oneStartMs = performance.now();
  other.registerFunction('crowd::one', () => 1);
  await untilCallable(caller, 'crowd::one');
  const oneMs = performance.now() - oneStartMs;
  await Promise.all([caller.shutdown(), other.shutdown()]);
  for (const part of [...crowds, near, far, nats]) await stop(part.child);
  return { seconds, mib, oneMs };
}

async function untilCallable(caller: ReturnType<typeof registerWorker>, functionId: string): Promise<void> {
  for (;;) {
    const isThere = await caller.trigger(functionId, {}).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    // Without a pause the questions would take a third of the time.
    await setTimeout(2);
  }
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
