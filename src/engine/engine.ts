// The engine: this file builds, starts, drains and stops it. It is the only place that connects the concrete parts:
// tables, router, modules, transport, threads.
//
// The start is all or nothing (K1): when a module cannot start, those started before it are stopped again.
// The stop is bounded (G1): calls that still run after `drain_timeout_ms` are answered with SHUTTING_DOWN, and their
// connections are closed.

import { describeConfig, describeSchema } from '../config/describe.ts';
import type { LoadedConfig } from '../config/load.ts';
import { ProcessCounts } from '../core/limits/process-counts.ts';
import type { Counters } from '../core/registry/counters.ts';
import { type Clock, sharedZeroMs, systemClock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import { OpenFilesWatch, openFilesMax } from '../effects/open-files.ts';
import { type LoadGauge, startLoadGauge } from '../effects/process-figures.ts';
import { type Random, randomSeed } from '../effects/random.ts';
import { StartFailure } from '../effects/start-failure.ts';
import { createOwnThread, createPool } from '../effects/threads/pool.ts';
import { engineVersion } from '../effects/version.ts';
import type { ListenerAddress, ModuleContext, ReloadReport } from '../modules/module.ts';
import { PassedHttp } from '../modules/passed-http.ts';
import { ReservedPaths } from '../modules/reserved-paths.ts';
import { SharedState } from '../modules/shared-state.ts';
import { SharedStreams } from '../modules/shared-streams.ts';
import { Taps } from '../modules/taps.ts';
import { LargeFrames } from '../router/calls/large-frames.ts';
import type { RouterContext } from '../router/context.ts';
import { RouterPort } from '../router/port.ts';
import { Router } from '../router/router.ts';
import { startHousekeeping, startPressureWatch } from '../router/session/housekeeping.ts';
import { StoreRegistry } from '../store/directory/registry.ts';
import type { StoreWorker } from '../store/thread/client.ts';
import { selectTransport } from '../transport/select-transport.ts';
import { FlushQueue } from '../transport/send-queue.ts';
import { loadUws } from '../transport/uws/uws-library.ts';
import { buildContext } from './build-context.ts';
import { sharedConfiguration } from './cluster-checks.ts';
import { drainRouter } from './drain.ts';
import { joinCluster, startInCluster } from './join-cluster.ts';
import { listModules, ModuleSet } from './module-set.ts';
import { routersOf, startFurtherRouters } from './routers/start-routers.ts';
import { ReloadableConfiguration } from './running-configuration.ts';
import { moduleSettings } from './settings-of-parts.ts';
import { assertSafeToStart, declareModules, startWarnings } from './start-checks.ts';
import { StoreThreads } from './store-thread.ts';

export { declareModules } from './start-checks.ts';

export interface EngineOptions {
  readonly config: LoadedConfig;
  /** The absolute path of the file, which a reload reads again. */
  readonly configFile?: string;
  /** Applied to the file at every reload; `config` already includes it. */
  readonly adapt?: (config: LoadedConfig) => LoadedConfig;
  /** Router threads; the first one is the main thread. */
  readonly threads: number;
  /** Threads that check large frames. */
  readonly poolThreads?: number;
  readonly logger: Logger;
  /** Begun before this code was loaded. */
  readonly storeThread?: StoreWorker;
  /** Tests replace the clock and the ids. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** Tests replace the load, too, because they run on the same thread. */
  readonly gauge?: LoadGauge;
}

export interface RunningEngine {
  readonly version: string;
  readonly transport: string;
  readonly threads: number;
  readonly poolThreads: number;
  readonly listeners: readonly ListenerAddress[];
  readonly modules: readonly { readonly name: string; readonly adapter?: string }[];
  readonly warnings: readonly string[];
  readonly counters: Counters;
  /** Resolves with the reason when a store fails permanently: the process must then end with code 74 (D3). */
  readonly storeFailed: Promise<string>;
  /** Resolves with the reason when a router thread has ended: the process must then end, too. */
  readonly routerFailed: Promise<string>;
  /** Reads the configuration file again and applies all of it, or nothing (K1). */
  reload(): Promise<ReloadReport>;
  /** Refuses new work, lets running work finish, then stops. Resolves when everything is released (G1). */
  drain(options?: DrainOptions): Promise<void>;
}

export interface DrainOptions {
  /** Overrides `drain_timeout_ms`. */
  readonly timeoutMs?: number;
}

const POOL_THREADS_DEFAULT = 2;

export async function startEngine(options: EngineOptions): Promise<RunningEngine> {
  const { config, logger, poolThreads = POOL_THREADS_DEFAULT } = options;
  const version = engineVersion();
  assertSafeToStart(config);
  const threads = routersOf(options.threads);
  const filesMax = openFilesMax();
  const { transport, warnings } = await chooseTransport(options.clock ?? systemClock);
  const pool = createPool(poolThreads);
  const processCounts = ProcessCounts.ofRouters(threads, randomSeed(), sharedZeroMs());
  const context = buildContext(options, processCounts);
  const router = new Router(context, new FlushQueue(context.clock), new LargeFrames(pool));
  const { stores, storeFailed, failStore, threads: storeThreads } = createStores(context, threads, options.storeThread);
  const openFiles = new OpenFilesWatch(filesMax, context.clock, logger);
  const modules = new ModuleSet(context, stores);
  const configuration = runningConfiguration(options, context, modules);
  const ofAllRouters = { ...meetingPlaces(), processCounts };
  const further = await startFurtherRouters({
    ...{ ...ofAllRouters, config, context, filesMax, threads, poolThreads, logger, stores, storeFailed: failStore },
    isAtEase: options.gauge !== undefined,
  });
  modules.others = further;
  const shared = () => sharedConfiguration(configuration.loaded);
  const cluster = await joinCluster(config.settings, shared, context, version, further.ofProcess);
  const moduleContext: ModuleContext = {
    ...{ router: new RouterPort(context), connections: router, stores, transport },
    settings: { ...moduleSettings(config, filesMax), portSharing: threads > 1 ? 'first' : undefined },
    ...{ clock: context.clock, random: context.random, logger, version, openFiles },
    ...{ ...ofAllRouters, reservedPaths: new ReservedPaths() },
    engine: infoOf(configuration),
    threads: { own: createOwnThread, evaluateAlerts: pool.evaluateAlerts, evaluateUpdate: pool.evaluateUpdate },
    ...{ outgoing: context.outgoing, environment: context.environment },
    modulesHealth: () => modules.health(),
    configuration,
    cluster,
  };
  configuration.serve(moduleContext);
  const start = () => modules.start(listModules(config), moduleContext, pool).finally(() => storeThreads.closeUnused());
  await startInCluster(cluster, modules, () => further.start(start, () => modules.listeners()));
  const stopHousekeeping = startHousekeeping(context);
  const stopPressureWatch = startPressureWatch(
    context,
    options.gauge ?? startLoadGauge(),
    () => stores.waitingCommands,
  );
  let stopped: Promise<void> | undefined;
  return {
    version,
    transport: transport.name,
    threads,
    poolThreads,
    listeners: modules.listeners(),
    modules: modules.names,
    warnings: [...startWarnings(config, filesMax), ...warnings],
    counters: context.counters,
    storeFailed,
    routerFailed: further.failed,
    reload: () => configuration.reload(),
    drain({ timeoutMs = config.settings.drain_timeout_ms } = {}) {
      if (stopped === undefined) further.beginDrain(timeoutMs);
      stopped ??= drainRouter(context, modules, timeoutMs, cluster, further.drain).then(async () => {
        stopHousekeeping();
        stopPressureWatch();
        openFiles.stop();
        await further.close();
        await Promise.all([modules.close(), stores.close(), storeThreads.close(), pool.close(), cluster?.close()]);
      });
      return stopped;
    },
  };
}

/** Where the modules of the first router and the code that connects the routers meet. */
function meetingPlaces() {
  return {
    taps: new Taps(),
    passedHttp: new PassedHttp(),
    sharedState: new SharedState(),
    sharedStreams: new SharedStreams(),
  };
}

function infoOf(configuration: ReloadableConfiguration): ModuleContext['engine'] {
  const { declarations } = declareModules();
  return {
    knownModules: declarations.map(({ name }) => name),
    config: () => ({ ...describeConfig(configuration.loaded), last_reload: configuration.lastReload ?? null }),
    configSchema: () => describeSchema(declarations),
  };
}

function runningConfiguration(
  { config, configFile, adapt, logger }: EngineOptions,
  { clock }: RouterContext,
  modules: ModuleSet,
) {
  return new ReloadableConfiguration({
    file: configFile,
    config,
    modules,
    logger,
    environment: process.env,
    nowMs: () => clock.nowMs(),
    ...(adapt !== undefined && { adapt }),
  });
}

async function chooseTransport(clock: Clock) {
  const selected = await selectTransport({ requested: process.env.SVC_TRANSPORT, loadUws, clock });
  if (!selected.ok) throw new StartFailure(78, selected.text);
  return selected;
}

function createStores(context: RouterContext, routers: number, early: StoreWorker | undefined) {
  const { clock, random, logger, counters, settings } = context;
  const threads = new StoreThreads(routers, early);
  let fail: (reason: string) => void = () => {};
  const storeFailed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  const stores = new StoreRegistry({
    clock,
    random,
    logger,
    counters,
    isDropIn: settings.isDropIn,
    createWorker: threads.next,
    onFailure: fail,
  });
  return { stores, storeFailed, failStore: fail, threads };
}
