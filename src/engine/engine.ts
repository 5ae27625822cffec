// The engine: this file builds, starts, drains and stops it. It is the only place that connects the concrete parts:
// tables, router, modules, transport, threads.
//
// The start is all or nothing (K1): when a module cannot start, those started before it are stopped again.
// The stop is bounded (G1): calls that still run after `drain_timeout_ms` are answered with SHUTTING_DOWN, and their
// connections are closed.

import type { Cluster } from '../cluster/cluster.ts';
import { describeConfig, describeSchema } from '../config/describe.ts';
import type { LoadedConfig } from '../config/load.ts';
import { refusals } from '../core/calls/refusal.ts';
import { allowListOf } from '../core/limits/outgoing-rules.ts';
import type { Counters } from '../core/registry/counters.ts';
import { type Clock, systemClock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import { OpenFilesWatch, openFilesMax } from '../effects/open-files.ts';
import { OutgoingClient } from '../effects/outgoing.ts';
import { createOwnThread, createPool } from '../effects/pool.ts';
import { type LoadGauge, startLoadGauge } from '../effects/process-figures.ts';
import { type Random, systemRandom } from '../effects/random.ts';
import { spillFilesIn } from '../effects/spill-file.ts';
import { engineVersion } from '../effects/version.ts';
import type { ListenerAddress, ModuleContext, ReloadReport } from '../modules/module.ts';
import { ReservedPaths } from '../modules/reserved-paths.ts';
import { Taps } from '../modules/taps.ts';
import { CLOSE_CODES } from '../protocol/frames/close-codes.ts';
import { outcomeOf } from '../router/calls/call.ts';
import { settle } from '../router/calls/in-flight.ts';
import { LargeFrames } from '../router/calls/large-frames.ts';
import { refuseWaitingInDrain } from '../router/calls/serve-waiting.ts';
import type { RouterContext } from '../router/context.ts';
import { createContext } from '../router/create-context.ts';
import { RouterPort } from '../router/port.ts';
import { Router } from '../router/router.ts';
import { startHousekeeping, startPressureWatch } from '../router/session/housekeeping.ts';
import { withdraw } from '../router/session/withdraw.ts';
import { StoreRegistry } from '../store/directory/registry.ts';
import type { StoreWorker } from '../store/thread/client.ts';
import { selectTransport } from '../transport/select-transport.ts';
import { FlushQueue } from '../transport/send-queue.ts';
import { loadUws } from '../transport/uws/uws-library.ts';
import { beginMoves, joinCluster, startInCluster } from './join-cluster.ts';
import { listModules, ModuleSet } from './module-set.ts';
import { ReloadableConfiguration } from './running-configuration.ts';
import {
  assertSafeToStart,
  channelSettings,
  declareModules,
  moduleSettings,
  StartError,
  startWarnings,
  waitingLimits,
} from './start-checks.ts';
import { StoreThreads } from './store-thread.ts';

export { declareModules, StartError } from './start-checks.ts';

export interface EngineOptions {
  readonly config: LoadedConfig;
  /** The absolute path of the file, which a reload reads again. */
  readonly configFile?: string;
  /** Applied to the file at every reload; `config` already includes it. */
  readonly adapt?: (config: LoadedConfig) => LoadedConfig;
  readonly threads: number;
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
  readonly listeners: readonly ListenerAddress[];
  readonly modules: readonly { readonly name: string; readonly adapter?: string }[];
  readonly warnings: readonly string[];
  readonly counters: Counters;
  /** Resolves with the reason when a store fails permanently: the process must then end with code 74 (D3). */
  readonly storeFailed: Promise<string>;
  /** Reads the configuration file again and applies all of it, or nothing (K1). */
  reload(): Promise<ReloadReport>;
  /** Refuses new work, lets running work finish, then stops. Resolves when everything is released (G1). */
  drain(options?: DrainOptions): Promise<void>;
}

export interface DrainOptions {
  /** Overrides `drain_timeout_ms`. */
  readonly timeoutMs?: number;
}

export async function startEngine(options: EngineOptions): Promise<RunningEngine> {
  const { config, logger, threads } = options;
  const version = engineVersion();
  assertSafeToStart(config);
  const filesMax = openFilesMax();
  const { transport, warnings } = await chooseTransport(options.clock ?? systemClock);
  const pool = createPool(threads);
  const context = buildContext(options);
  const router = new Router(context, new FlushQueue(context.clock), new LargeFrames(pool));
  const { stores, storeFailed, threads: storeThreads } = createStores(context, options.storeThread);
  const openFiles = new OpenFilesWatch(filesMax, context.clock, logger);
  const modules = new ModuleSet(context, stores);
  const configuration = runningConfiguration(options, context, modules);
  const cluster = await joinCluster(() => configuration.loaded, context, version);
  const moduleContext: ModuleContext = {
    router: new RouterPort(context),
    connections: router,
    stores,
    transport,
    settings: moduleSettings(config, filesMax),
    clock: context.clock,
    random: context.random,
    logger,
    version,
    openFiles,
    reservedPaths: new ReservedPaths(),
    taps: new Taps(),
    engine: {
      knownModules: declareModules().declarations.map(({ name }) => name),
      config: () => ({ ...describeConfig(configuration.loaded), last_reload: configuration.lastReload ?? null }),
      configSchema: () => describeSchema(declareModules().declarations),
    },
    threads: { own: createOwnThread, evaluateAlerts: (inputs, nowMs) => pool.evaluateAlerts(inputs, nowMs) },
    outgoing: context.outgoing,
    environment: context.environment,
    modulesHealth: () => modules.health(),
    configuration,
    cluster,
  };
  configuration.serve(moduleContext);
  const start = () => modules.start(listModules(config), moduleContext, pool).finally(() => storeThreads.closeUnused());
  await startInCluster(cluster, modules, start);
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
    listeners: modules.listeners(),
    modules: modules.names,
    warnings: [...startWarnings(config, filesMax), ...warnings],
    counters: context.counters,
    storeFailed,
    reload: () => configuration.reload(),
    drain({ timeoutMs = config.settings.drain_timeout_ms } = {}) {
      stopped ??= stop(context, modules, timeoutMs, cluster).then(async () => {
        stopHousekeeping();
        stopPressureWatch();
        openFiles.stop();
        await Promise.all([modules.close(), stores.close(), storeThreads.close(), pool.close(), cluster?.close()]);
      });
      return stopped;
    },
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
  if (!selected.ok) throw new StartError(78, selected.text);
  return selected;
}

function buildContext({ config, logger, clock = systemClock, random = systemRandom }: EngineOptions): RouterContext {
  const { settings } = config;
  return createContext({
    settings: {
      isDropIn: settings.compat === 'iii',
      inFlightMax: settings.limits.engine.in_flight,
      waiting: waitingLimits(settings),
      outboundBytesMax: settings.limits.engine.outbound_buffers_bytes,
      logPayloads: settings.log_payloads,
      markKey: settings.mark_key,
      isInCluster: settings.cluster !== undefined,
      zone: settings.cluster?.zone,
    },
    channels: channelSettings(config),
    balance: settings.balance,
    clock,
    random,
    logger,
    openSpillFile: spillFilesIn(random),
    outgoing: new OutgoingClient({ listed: allowListOf(settings.outgoing.allow), clock }),
    environment: process.env,
  });
}

function createStores({ clock, random, logger, counters, settings }: RouterContext, early?: StoreWorker) {
  const threads = new StoreThreads(early);
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
  return { stores, storeFailed, threads };
}

/** For workers and callers to connect to another engine of the cluster, so that no call of theirs is refused. */
const MOVE_MS_MIN = 500;
const MOVE_MS_MAX = 2_000;
const DRAIN_CHECK_INTERVAL_MS = 20;
/** Time for clients to read answers that are already written; with the drain itself below the 5 s of G1. */
const UNREAD_ANSWERS_MS_MAX = 2_000;

async function stop(
  context: RouterContext,
  modules: ModuleSet,
  drainTimeoutMs: number,
  cluster: Cluster | undefined,
): Promise<void> {
  const endMs = context.clock.monotonicMs() + drainTimeoutMs;
  context.isDraining = true;
  // Other engines know it before the workers come to them.
  const haveMoved = beginMoves(cluster, context);
  context.isMoving = haveMoved !== undefined;
  context.logger.info('Draining', { calls_in_flight: context.calls.openCount, drain_timeout_ms: drainTimeoutMs });
  modules.drain();
  for (const session of context.sessions.values()) session.send({ type: 'draining' });
  await letMove(context, drainTimeoutMs, haveMoved);
  refuseWaitingInDrain(context);
  await waitUntil(context, endMs - context.clock.monotonicMs(), () => context.calls.openCount === 0);
  context.isStopped = true;
  refuseWaitingInDrain(context);
  for (const call of context.calls.allOpen()) {
    // Closing an earlier connection may have closed this one, too.
    if (call.isOpen) settle(context, call, outcomeOf(refusals.shuttingDown()));
  }
  await endOfTurn(context);
  await waitUntil(context, UNREAD_ANSWERS_MS_MAX, () => !hasUnsentFrames(context));
  const goodbye = { code: CLOSE_CODES.goingAway, reason: 'the engine is shutting down' };
  for (const session of [...context.sessions.values()]) withdraw(context, session, goodbye, refusals.shuttingDown());
  context.channels.stop();
  context.outgoing.close();
  await endOfTurn(context);
  modules.stop();
}

/** `undefined`: there is no engine to move to. */
async function letMove(
  context: RouterContext,
  drainTimeoutMs: number,
  haveMoved: (() => boolean) | undefined,
): Promise<void> {
  if (haveMoved === undefined) return;
  const startMs = context.clock.monotonicMs();
  await waitUntil(
    context,
    Math.min(drainTimeoutMs, MOVE_MS_MAX),
    () => context.clock.monotonicMs() - startMs >= MOVE_MS_MIN && haveMoved(),
  );
  context.isMoving = false;
}

/** Waits until the condition is true or the time is over. */
function waitUntil(context: RouterContext, timeoutMs: number, isSo: () => boolean): Promise<void> {
  const endMs = context.clock.monotonicMs() + timeoutMs;
  return new Promise((resolve) => {
    const isDone = (): boolean => isSo() || context.clock.monotonicMs() >= endMs;
    if (isDone()) return resolve();
    const check = (): void => {
      if (!isDone()) return;
      cancel();
      resolve();
    };
    // All connections may be closed by now, and a process without pending events would end before its work has.
    const cancel = context.clock.every(DRAIN_CHECK_INTERVAL_MS, check, { keepsProcessAlive: true });
  });
}

/** Frames written during a turn of the event loop are sent at its end. */
function endOfTurn(context: RouterContext): Promise<void> {
  return new Promise((resolve) => context.clock.afterTurn(resolve));
}

/** Closing a connection would drop data that its peer has not read: reading a large answer takes time. */
function hasUnsentFrames({ sessions, channels }: RouterContext): boolean {
  return channels.isDelivering || [...sessions.values()].some(({ sendQueue }) => sendQueue.bytes > 0);
}
