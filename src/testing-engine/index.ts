// The engine of `svc-sdk/testing`: the real router, modules and store rules, inside the process of the test. Sockets,
// threads and time are stand-ins; every decision is made by the code of the real engine.
//
// Bundled into one file of the package (`bin/build-testing-engine.js`): the SDK has none of the engine's dependencies.

import { describeConfig, describeSchema } from '../config/describe.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { allowListOf } from '../core/limits/outgoing-rules.ts';
import { ProcessCounts } from '../core/limits/process-counts.ts';
import { createLogger } from '../effects/logger.ts';
import { OutgoingClient } from '../effects/outgoing.ts';
import { systemRandom } from '../effects/random.ts';
import { spillFilesIn } from '../effects/spill-file.ts';
import type { Pool } from '../effects/threads/pool.ts';
import { listModules, ModuleSet } from '../engine/module-set.ts';
import { channelSettings, moduleSettings, waitingLimits } from '../engine/settings-of-parts.ts';
import { declareModules } from '../engine/start-checks.ts';
import type { ModuleContext } from '../modules/module.ts';
import { PassedHttp } from '../modules/passed-http.ts';
import { ReservedPaths } from '../modules/reserved-paths.ts';
import { SharedState } from '../modules/shared-state.ts';
import { SharedStreams } from '../modules/shared-streams.ts';
import { Taps } from '../modules/taps.ts';
import { locateMembers } from '../protocol/frames/envelope.ts';
import { LargeFrames } from '../router/calls/large-frames.ts';
import type { RouterContext } from '../router/context.ts';
import { createContext } from '../router/create-context.ts';
import { RouterPort } from '../router/port.ts';
import { Router } from '../router/router.ts';
import { startHousekeeping } from '../router/session/housekeeping.ts';
import type { EngineInside, EngineInsideOptions, FakeResponse } from '../sdk/testing/testing-fake.ts';
import { SDK_VERSION } from '../sdk/worker/announcement.ts';
import { StoreRegistry } from '../store/directory/registry.ts';
import { UNLIMITED_SPACE } from '../store/kv/disk-space.ts';
import { MemoryStore } from '../store/kv/kv-memory.ts';
import type { StoreWorker } from '../store/thread/client.ts';
import { StoreThread } from '../store/thread/thread.ts';
import { FlushQueue } from '../transport/send-queue.ts';
import { MemoryExchange, MemoryTransport } from './memory-transport.ts';

/** Modules that need threads, processes or a console, and that no handler needs. */
const LEFT_OUT = new Set(['svc-observability', 'svc-console-api', 'svc-workers']);

export async function startEngineInside(options: EngineInsideOptions): Promise<EngineInside> {
  const { clock } = options;
  const config = load(options.config);
  const context = buildContext(config, options);
  const pool = createInlinePool();
  const router = new Router(context, new FlushQueue(clock), new LargeFrames(pool));
  const transport = new MemoryTransport((task) => clock.afterTurn(task));
  const stores = new StoreRegistry({
    ...{ clock, random: systemRandom, logger: context.logger, counters: context.counters },
    isDropIn: false,
    createWorker: createInlineStore,
    onFailure: (reason) => options.log(`The store of the test's engine failed: ${reason}`),
  });
  const modules = new ModuleSet(context, stores);
  const listed = listModules(config).filter(({ name }) => !LEFT_OUT.has(name));
  await modules.start(listed, moduleContext(config, context, { router, transport, stores, modules, pool }), pool);
  const stopHousekeeping = startHousekeeping(context);
  return {
    dial: (request, events) => transport.dial(request, events),
    request: (request) =>
      new Promise<FakeResponse>((resolve, reject) => {
        if (transport.http === undefined) reject(new Error('The engine of this test has no HTTP module'));
        else transport.http.request(new MemoryExchange(request, resolve));
      }),
    get openCalls() {
      return context.calls.openCount;
    },
    async stop() {
      modules.drain();
      modules.stop();
      stopHousekeeping();
      context.channels.stop();
      context.outgoing.close();
      await modules.close();
    },
  };
}

function load(text: string): LoadedConfig {
  const loaded = loadConfig({ text, file: 'the configuration of the test', env: {}, ...declareModules() });
  if (loaded.ok) return loaded.config;
  throw new Error(loaded.problems.map(formatProblem).join('\n'));
}

function buildContext(config: LoadedConfig, { clock, log }: EngineInsideOptions): RouterContext {
  const { settings } = config;
  return createContext({
    settings: {
      isDropIn: settings.compat === 'iii',
      inFlightMax: settings.limits.engine.in_flight,
      waiting: waitingLimits(settings),
      outboundBytesMax: settings.limits.engine.outbound_buffers_bytes,
      logPayloads: false,
      markKey: settings.mark_key,
    },
    channels: channelSettings(config),
    balance: settings.balance,
    clock,
    random: systemRandom,
    logger: createLogger({ level: 'warn', format: 'default', clock, write: log }),
    openSpillFile: spillFilesIn(systemRandom),
    outgoing: new OutgoingClient({ listed: allowListOf([]), clock }),
    environment: {},
  });
}

interface EngineParts {
  readonly router: Router;
  readonly transport: MemoryTransport;
  readonly stores: StoreRegistry;
  readonly modules: ModuleSet;
  readonly pool: Pool;
}

function moduleContext(config: LoadedConfig, context: RouterContext, parts: EngineParts): ModuleContext {
  const { router, transport, stores, modules, pool } = parts;
  const { declarations } = declareModules();
  return {
    router: new RouterPort(context),
    connections: router,
    ...{ stores, transport },
    settings: moduleSettings(config, undefined),
    ...{ clock: context.clock, random: context.random, logger: context.logger },
    version: SDK_VERSION,
    openFiles: { count: () => undefined, take: () => true },
    reservedPaths: new ReservedPaths(),
    passedHttp: new PassedHttp(),
    sharedState: new SharedState(),
    sharedStreams: new SharedStreams(),
    processCounts: new ProcessCounts(),
    taps: new Taps(),
    engine: {
      knownModules: declarations.map(({ name }) => name),
      config: () => ({ ...describeConfig(config), last_reload: null }),
      configSchema: () => describeSchema(declarations),
    },
    threads: { own: refuseThread, evaluateAlerts: pool.evaluateAlerts, evaluateUpdate: pool.evaluateUpdate },
    outgoing: context.outgoing,
    environment: context.environment,
    modulesHealth: () => modules.health(),
    configuration: {
      file: undefined,
      projectWorkers: [],
      problem: undefined,
      listeners: () => modules.listeners(),
      addEntry: refuseFile,
      removeEntry: refuseFile,
      reload: refuseFile,
      onReload: () => {},
    },
  };
}

/** Does the work of a store's thread, on the calling thread. */
function createInlineStore(): StoreWorker {
  let thread: StoreThread | undefined;
  return {
    async run(task) {
      if (task.kind === 'batch') return thread?.runBatches([task.batch])[0] ?? { failure: 'The store is not open' };
      if (task.kind !== 'open') return { done: true };
      const { newEpoch: epoch, isDropIn, limits } = task.opening;
      thread = new StoreThread(new MemoryStore(), { epoch, run: epoch, isDropIn, limits }, UNLIMITED_SPACE);
      return { epoch };
    },
    async close() {},
  };
}

function createInlinePool(): Pool {
  return {
    scanFrame: async (bytes) => locateMembers(new Uint8Array(bytes)),
    evaluateAlerts: async () => [],
    // No store of this engine is in a Redis.
    evaluateUpdate: refuseThread,
    close: async () => {},
  };
}

function refuseThread(): never {
  throw new Error('The engine of a test has no threads');
}

function refuseFile(): Promise<never> {
  return Promise.reject(new Error('The engine of a test has no configuration file'));
}
