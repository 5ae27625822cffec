// The engine: built here, started, drained and stopped here, in readable order. The one place where concrete
// things meet: tables, router, modules, transport, threads.
//
// Start is all or nothing (K1): a module that cannot start takes those started before it down again.
// Stop is bounded (G1): what has not ended after `drain_timeout_ms` is answered with SHUTTING_DOWN and cut.

import { describeConfig, describeSchema } from './config/describe.ts';
import type { LoadedConfig } from './config/load.ts';
import type { Counters } from './core/counters.ts';
import { listPlaces } from './core/outgoing-rules.ts';
import { refusals } from './core/refusal.ts';
import { type Clock, systemClock } from './effects/clock.ts';
import { type LoadGauge, startLoadGauge } from './effects/load-gauge.ts';
import type { Logger } from './effects/logger.ts';
import { OpenFilesWatch, openFilesMax } from './effects/open-files.ts';
import { OutgoingClient } from './effects/outgoing.ts';
import { createOwnThread, createPool } from './effects/pool.ts';
import { type Random, systemRandom } from './effects/random.ts';
import { spillFilesIn } from './effects/spill-file.ts';
import { engineVersion } from './effects/version.ts';
import { listModules } from './listed-modules.ts';
import { ModuleSet } from './module-set.ts';
import type { ListenerFacts, ModuleContext, ReloadReport } from './modules/module.ts';
import { ReservedPaths } from './modules/reserved-paths.ts';
import { Taps } from './modules/taps.ts';
import { CLOSE_CODES } from './protocol/close-codes.ts';
import type { RouterContext } from './router/context.ts';
import { createContext } from './router/create-context.ts';
import { startHousekeeping } from './router/housekeeping.ts';
import { LargeFrames } from './router/large-frames.ts';
import { RouterPort } from './router/port.ts';
import { startPressureWatch } from './router/pressure-watch.ts';
import { outcomeOf } from './router/reply.ts';
import { Router } from './router/router.ts';
import { settle } from './router/settle.ts';
import { withdraw } from './router/withdraw.ts';
import { ReloadableConfiguration } from './running-configuration.ts';
import {
  assertSafeToStart,
  channelSettings,
  declareModules,
  moduleSettings,
  StartError,
  startWarnings,
} from './start-checks.ts';
import { StoreRegistry } from './store/registry.ts';
import { FlushQueue } from './transport/outbox.ts';
import { selectTransport } from './transport/select-transport.ts';
import { loadUws } from './transport/uws-library.ts';

export { declareModules, StartError } from './start-checks.ts';

export interface EngineOptions {
  readonly config: LoadedConfig;
  /** Where it came from, absolute: what a reload reads. */
  readonly configFile?: string;
  /** What a reload makes of the file; `config` has it done already. */
  readonly adapt?: (config: LoadedConfig) => LoadedConfig;
  readonly threads: number;
  readonly logger: Logger;
  /** Tests move time and choose ids by hand. */
  readonly clock?: Clock;
  readonly random?: Random;
  /** And the load: the thread is theirs too. */
  readonly gauge?: LoadGauge;
}

export interface RunningEngine {
  readonly version: string;
  readonly transport: string;
  readonly threads: number;
  readonly listeners: readonly ListenerFacts[];
  readonly modules: readonly { readonly name: string; readonly adapter?: string }[];
  readonly warnings: readonly string[];
  readonly counters: Counters;
  /** Resolves with the reason when a store fails for good: then the process has to end with code 74 (D3). */
  readonly storeFailed: Promise<string>;
  /** Reads the configuration file again and runs on it, or changes nothing at all (K1). */
  reload(): Promise<ReloadReport>;
  /** Refuses new work, lets what runs finish, then stops. Resolves when everything is released (G1). */
  drain(options?: DrainOptions): Promise<void>;
}

export interface DrainOptions {
  /** In place of `drain_timeout_ms`. */
  readonly timeoutMs?: number;
}

export async function startEngine(options: EngineOptions): Promise<RunningEngine> {
  const { config, logger, threads } = options;
  const version = engineVersion();
  assertSafeToStart(config);
  const filesMax = openFilesMax();
  const { transport, warnings } = await chooseTransport(options.clock ?? systemClock);
  const pool = createPool(threads);
  const flushes = new FlushQueue(options.clock ?? systemClock);
  const context = buildContext(options);
  const router = new Router(context, flushes, new LargeFrames(pool));
  const { stores, storeFailed } = createStores(context);
  const openFiles = new OpenFilesWatch(filesMax, context.clock, logger);
  const modules = new ModuleSet(context, stores);
  const configuration = runningConfiguration(options, context, modules);
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
  };
  configuration.serve(moduleContext);
  await modules.start(listModules(config), moduleContext, pool);
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
      stopped ??= stop(context, modules, timeoutMs).then(async () => {
        stopHousekeeping();
        stopPressureWatch();
        openFiles.stop();
        await Promise.all([modules.close(), stores.close(), pool.close()]);
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
  const selected = await selectTransport({ asked: process.env.SVC_TRANSPORT, loadUws, clock });
  if (!selected.ok) throw new StartError(78, selected.text);
  return selected;
}

function buildContext({ config, logger, clock = systemClock, random = systemRandom }: EngineOptions): RouterContext {
  const { settings } = config;
  return createContext({
    settings: {
      isDropIn: settings.compat === 'iii',
      inFlightMax: settings.limits.engine.in_flight,
      outboundBytesMax: settings.limits.engine.outbound_buffers_bytes,
      logPayloads: settings.log_payloads,
    },
    channels: channelSettings(config),
    balance: settings.balance,
    clock,
    random,
    logger,
    openSpillFile: spillFilesIn(random),
    outgoing: new OutgoingClient({ listed: listPlaces(settings.outgoing.allow), clock }),
    environment: process.env,
  });
}

function createStores({ clock, random, logger, counters, settings }: RouterContext) {
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
    createWorker: () => createOwnThread('store'),
    onFailure: fail,
  });
  return { stores, storeFailed };
}

const DRAIN_CHECK_INTERVAL_MS = 20;
/** For answers that are written but not read yet; together with the drain's own time below the 5 s of G1. */
const UNREAD_ANSWERS_MS_MAX = 2_000;

async function stop(context: RouterContext, modules: ModuleSet, drainTimeoutMs: number): Promise<void> {
  context.isDraining = true;
  context.logger.info('Draining', { calls_in_flight: context.calls.openCount, drain_timeout_ms: drainTimeoutMs });
  modules.drain();
  for (const session of context.sessions.values()) session.send({ type: 'draining' });
  await waitUntil(context, drainTimeoutMs, () => context.calls.openCount === 0);
  context.isStopped = true;
  for (const call of context.calls.allOpen()) {
    // Whoever was told of an earlier one may have ended this one as well.
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

/** Until it is so, or the time is up. */
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
    // All connections may be gone by now, and a process with nothing to wait for would end before its work has.
    const cancel = context.clock.every(DRAIN_CHECK_INTERVAL_MS, check, { keepsProcessAlive: true });
  });
}

/** Frames written during a turn leave at its end. */
function endOfTurn(context: RouterContext): Promise<void> {
  return new Promise((resolve) => context.clock.afterTurn(resolve));
}

/** Closing a connection would throw away what its peer has not fetched: a large answer takes a while to be read. */
function hasUnsentFrames({ sessions, channels }: RouterContext): boolean {
  return channels.isDelivering || [...sessions.values()].some(({ outbox }) => outbox.bytes > 0);
}
