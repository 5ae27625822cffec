// Fault 30: a mass of connections that do nothing, and then close all at once. Measured are their cost for the engine,
// seen from outside; what remains of them; and the effect on two workers that call each other all the time.

import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { BusyPair } from '../../support/load/busy-pair.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS } from '../../support/load/fault-tools.ts';
import { streamYaml } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const CONNECTIONS = IS_LONG ? 10_000 : 1_000;
/** A second for each round of the long form: the hour of the catalogue is 3 600 of them. Idleness is time itself. */
const IDLE_MS = IS_LONG ? FAULT_ROUNDS * 1_000 : 0;
/** How many connect at the same time, below the port's backlog of new connections. */
const DIALLING = 100;
const WARMUP_CONNECTIONS = 300;
const KIB = 1024;
/** For a young process whose garbage is not collected yet, in addition to what the connections keep. */
const GARBAGE_BYTES_MAX = 32 * 1024 * KIB;
const FREED_MS_MAX = 30_000;
/** Logs and traces of past connections are limited: this many masses of the long form fill them. */
const SETTLING_MASSES = IS_LONG ? 5 : 0;
/** The answer times of a busy pair, with the mass and without it. A figure of the long form. */
const P99_RATIO_MAX = 1.1;

const OPEN_DOORS = 'connections: 20000, connections_per_second: 100000';
const LIMITS = `limits: {trusted: {${OPEN_DOORS}}, stream: {${OPEN_DOORS}}}`;

interface Idler {
  readonly socket: { close(code: number): void; terminate(): void };
  readonly closed: Promise<unknown>;
}

type Connect = (engine: EngineProcess, index: number) => Promise<Idler>;

test.each<[string, number, Connect]>([
  ['workers', 40, idleWorker],
  ['stream subscribers', 20, idleSubscriber],
])(
  '[fault 30] a mass of idle %s costs at most %d KiB each, is freed when it ends, and slows no other worker',
  {
    timeout: 120_000 * (1 + SETTLING_MASSES) + IDLE_MS * 3,
  },
  async (kind, kibMax, connect) => {
    const limit = `KiB each<=${kibMax}${IS_LONG ? `,p99 ratio<=${P99_RATIO_MAX}` : ''}`;
    const line = faultLine('30', `idle mass of ${CONNECTIONS} ${kind}`, limit);
    await using engine = await EngineProcess.start(streamYaml('', LIMITS));
    await using pair = await BusyPair.start(engine.url);
    await haveAllThreads(engine);
    // Memory for the first connections and calls stays: code, tables, buffers of the socket library.
    await end(engine, await stand(engine, connect, WARMUP_CONNECTIONS));
    const alone = await pair.during(wait(IDLE_MS));
    const restBytes = engine.rssBytes;
    const restFiles = engine.openFiles;
    const coming = stand(engine, connect, CONNECTIONS);
    const meanwhile = await pair.during(coming);
    const mass = await coming;
    const loaded = await pair.during(wait(IDLE_MS));
    const massBytes = engine.rssBytes;
    const leaving = end(engine, mass, restFiles);
    const atTheEnd = await pair.during(leaving);
    await leaving;
    let settledBytes = massBytes;
    for (let settling = 0; settling < SETTLING_MASSES; settling++) {
      const next = await stand(engine, connect, CONNECTIONS);
      settledBytes = engine.rssBytes;
      await end(engine, next, restFiles);
    }
    const again = await stand(engine, connect, CONNECTIONS);
    const againBytes = engine.rssBytes;
    await end(engine, again, restFiles);
    const kibEach = (massBytes - restBytes) / CONNECTIONS / KIB;
    const ratio = loaded.p99Ms / alone.p99Ms;
    const calls = `calls while they came=${meanwhile.calls},while they went=${atTheEnd.calls}`;
    line.figure = `KiB each=${kibEach.toFixed(1)}${IS_LONG ? `,p99 ratio=${ratio.toFixed(2)}` : ''},${calls}`;
    expect(massBytes - restBytes).toBeLessThan(CONNECTIONS * kibMax * KIB + GARBAGE_BYTES_MAX);
    // The next mass reuses what the last one freed.
    expect(againBytes - settledBytes).toBeLessThan(GARBAGE_BYTES_MAX);
    expect(engine.stderr).not.toMatch(/ ERROR /);
    if (IS_LONG) expect(ratio).toBeLessThanOrEqual(P99_RATIO_MAX);
  },
);

/** Telemetry threads start late, and each keeps files open for as long as it runs. */
async function haveAllThreads(engine: EngineProcess): Promise<void> {
  await using asker = await RawWorker.connect(engine.url);
  for (const kind of ['traces', 'rollups'])
    expect(await asker.call(`engine::${kind}::list`, {})).toHaveProperty('result');
}

async function stand(engine: EngineProcess, connect: Connect, count: number): Promise<Idler[]> {
  const mass: Idler[] = [];
  while (mass.length < count) {
    const first = mass.length;
    mass.push(...(await Promise.all(Array.from({ length: DIALLING }, (_, offset) => connect(engine, first + offset)))));
  }
  return mass;
}

/** All at once: every second one closes properly, the others are cut. */
async function end(engine: EngineProcess, mass: readonly Idler[], restFiles = Number.POSITIVE_INFINITY): Promise<void> {
  for (const [index, { socket }] of mass.entries()) {
    if (index % 2 === 0) socket.close(1000);
    else socket.terminate();
  }
  await Promise.all(mass.map(({ closed }) => closed));
  await waitFor('the engine has closed every connection', () => engine.openFiles <= restFiles, FREED_MS_MAX);
}

async function idleWorker(engine: EngineProcess, index: number): Promise<Idler> {
  const worker = await RawWorker.connect(engine.url);
  await worker.register(`idle::f${index}`);
  return worker;
}

async function idleSubscriber(engine: EngineProcess): Promise<Idler> {
  const [, streams = ''] = engine.urls;
  const client = await StreamClient.connect(streams, '/stream/chat/room');
  await client.nextOf('sync');
  return client;
}
