// The real engine inside the process of the test: real modules, threads and sockets on loopback.

import { readFileSync } from 'node:fs';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblem } from '../../../src/config/problem.ts';
import { Counters } from '../../../src/core/registry/counters.ts';
import { type Clock, systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import type { LoadGauge } from '../../../src/effects/process-figures.ts';
import { declareModules, type RunningEngine, startEngine } from '../../../src/engine/engine.ts';
import type { ReloadReport } from '../../../src/modules/module.ts';
import { IiiClient } from '../clients/iii-client.ts';
import { RawWorker } from '../clients/raw-worker.ts';
import { IS_PAIRED, Pair, type PairSetup, pairOf } from '../cluster/paired-engines.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

/** One worker port on loopback, at a free port. */
export const ONE_PORT = 'workers:\n  - name: svc-worker-manager\n    config: {port: 0}\n';

/** Calls that a test leaves open must not delay its end. */
const DEFAULT_CONFIG = `drain_timeout_ms: 100\n${ONE_PORT}`;

export interface TestEngineOptions {
  /** The whole configuration file; by default one port and a short drain. */
  readonly yaml?: string;
  readonly clock?: Clock;
  /** How the process bears its load. By default well: what the test itself does on this thread is no load. */
  readonly gauge?: LoadGauge;
  /** Router threads. */
  readonly threads?: number;
  /** The file of that text, instead of `yaml`, for a reload. */
  readonly configFile?: string;
}

/** `npm run test:threads` sets it. */
const THREADS = Number(process.env.SVC_TEST_THREADS ?? 1);

const AT_EASE: LoadGauge = { loopDelayMs: () => 0, heapShare: () => 0, stop: () => {} };

export interface TestEngine extends AsyncDisposable {
  /** Address of the first worker port. */
  readonly url: string;
  readonly port: number;
  /** Addresses of all worker ports, in the order of the file. */
  readonly urls: readonly string[];
  /** The library that carries its connections: `uWebSockets.js`, or `ws` with or without a reason. */
  readonly transport: string;
  readonly counters: Counters;
  readonly warnings: readonly string[];
  /** Every line the engine has logged so far, from debug upwards. */
  readonly log: readonly string[];
  drain(): Promise<void>;
  reload(): Promise<ReloadReport>;
}

/** Rejects as the engine does: with a `StartFailure`, or with the problems of the file as they would be printed. */
export async function startTestEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const { clock, configFile, threads = 1, yaml = DEFAULT_CONFIG } = options;
  const isPlain = clock === undefined && configFile === undefined && threads === 1;
  const pair = IS_PAIRED && isPlain ? await pairOf(yaml) : undefined;
  return pair === undefined ? await startOne(options) : await startPair(options, pair);
}

if (IS_PAIRED) {
  RawWorker.afterSettled = () => Pair.allAgree();
  IiiClient.afterReady = () => Pair.allAgree();
}

/** Two in place of one: connections go to them in turn. */
async function startPair(options: TestEngineOptions, { nats, yamls: [ofA, ofB] }: PairSetup): Promise<TestEngine> {
  const log: string[] = [];
  const started = Promise.all([ofA, ofB].map((yaml) => startOne({ ...options, yaml }, log)));
  const [a, b] = await started.catch(async (error: unknown) => {
    await nats[Symbol.asyncDispose]();
    throw error;
  });
  if (a === undefined || b === undefined) throw new Error('Two engines were started');
  const pair = await Pair.of([a.url, b.url]);
  const drain = async (): Promise<void> => {
    pair.end();
    await Promise.all([a.drain(), b.drain()]);
    await nats[Symbol.asyncDispose]();
  };
  let connections = 0;
  return {
    ...a,
    get url() {
      return connections++ % 2 === 0 ? b.url : a.url;
    },
    counters: sumOf(a.counters, b.counters),
    drain,
    [Symbol.asyncDispose]: drain,
  };
}

function sumOf(one: Counters, other: Counters): Counters {
  const sum = new Counters();
  return Object.assign(sum, {
    get: (...which: Parameters<Counters['get']>) => one.get(...which) + other.get(...which),
  });
}

async function startOne(options: TestEngineOptions, log: string[] = []): Promise<TestEngine> {
  const { clock, configFile, gauge = AT_EASE } = options;
  const yaml = options.yaml ?? (configFile === undefined ? DEFAULT_CONFIG : readFileSync(configFile, 'utf8'));
  const logger = createLogger({
    level: 'debug',
    format: 'default',
    clock: systemClock,
    write: (line) => log.push(line),
  });
  const config = loadText(yaml);
  // A clock of the test exists on one thread.
  const threads = options.threads ?? (clock === undefined ? THREADS : 1);
  const engine: RunningEngine = await startEngine({
    ...{ config, threads, logger, gauge },
    ...(clock && { clock }),
    ...(configFile !== undefined && { configFile }),
  });
  const urls = engine.listeners.map(({ address }) => address);
  const [url] = urls;
  if (url === undefined) throw new Error('The configuration of this test has no worker port');
  const drain = () => engine.drain();
  return {
    url,
    port: Number(new URL(url).port),
    urls,
    transport: engine.transport,
    counters: engine.counters,
    warnings: engine.warnings,
    log,
    drain,
    reload: () => engine.reload(),
    [Symbol.asyncDispose]: () => (clock instanceof FakeClock ? withTimePassing(clock, drain) : drain()),
  };
}

const PASSING_MS = 20;

/** An engine that ends looks again and again whether its last calls have: for that, time has to advance. */
async function withTimePassing(clock: FakeClock, drain: () => Promise<void>): Promise<void> {
  const passing = setInterval(() => clock.advance(PASSING_MS), 1);
  try {
    await drain();
  } finally {
    clearInterval(passing);
  }
}

function loadText(text: string) {
  const loaded = loadConfig({ text, file: 'svc-config.yaml', env: {}, ...declareModules() });
  if (loaded.ok) return loaded.config;
  throw new Error(loaded.problems.map(formatProblem).join('\n'));
}
