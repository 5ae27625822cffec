// The engine: built here, started, drained and stopped here, in readable order. The one place where concrete
// things meet: tables, router, modules, transport, threads.
//
// Start is all or nothing (K1): a module that cannot start takes those started before it down again.
// Stop is bounded (G1): what has not ended after `drain_timeout_ms` is answered with SHUTTING_DOWN and cut.

import type { LoadedConfig } from './config/load.ts';
import type { Counters } from './core/counters.ts';
import { listPlaces } from './core/outgoing-rules.ts';
import { refusals } from './core/refusal.ts';
import { type Clock, systemClock } from './effects/clock.ts';
import type { Logger } from './effects/logger.ts';
import { OpenFilesWatch, openFilesMax } from './effects/open-files.ts';
import { OutgoingClient } from './effects/outgoing.ts';
import { createOwnThread, createPool, type Pool } from './effects/pool.ts';
import { type Random, systemRandom } from './effects/random.ts';
import { spillFilesIn } from './effects/spill-file.ts';
import { StartFailure } from './effects/start-failure.ts';
import { engineVersion } from './effects/version.ts';
import type { EngineModule, ListenerFacts, ModuleContext, ModuleHealth } from './modules/module.ts';
import { plugIn } from './modules/plug-in.ts';
import { CLOSE_CODES } from './protocol/close-codes.ts';
import type { RouterContext } from './router/context.ts';
import { createContext } from './router/create-context.ts';
import { startHousekeeping } from './router/housekeeping.ts';
import { LargeFrames } from './router/large-frames.ts';
import { RouterPort } from './router/port.ts';
import { outcomeOf } from './router/reply.ts';
import { Router } from './router/router.ts';
import { settle } from './router/settle.ts';
import { withdraw } from './router/withdraw.ts';
import {
  assertSafeToStart,
  channelSettings,
  type ListedModule,
  listModules,
  moduleSettings,
  StartError,
  startWarnings,
} from './start-checks.ts';
import { StoreInUse } from './store/directory-lock.ts';
import { StoreDamaged, StoreRegistry } from './store/registry.ts';
import { FlushQueue } from './transport/outbox.ts';
import { selectTransport } from './transport/select-transport.ts';
import { ListenError } from './transport/socket.ts';
import { loadUws } from './transport/uws-library.ts';

export { declareModules, StartError } from './start-checks.ts';

export interface EngineOptions {
  readonly config: LoadedConfig;
  readonly threads: number;
  readonly logger: Logger;
  /** Tests move time and choose ids by hand. */
  readonly clock?: Clock;
  readonly random?: Random;
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
  const { transport, warnings } = chooseTransport(options.clock ?? systemClock);
  const pool = createPool(threads);
  const flushes = new FlushQueue(options.clock ?? systemClock);
  const context = buildContext(options);
  const router = new Router(context, flushes, new LargeFrames(pool));
  const { stores, storeFailed } = createStores(context);
  const openFiles = new OpenFilesWatch(filesMax, context.clock, logger);
  const modules = buildModules(listModules(config), {
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
    modulesHealth: () => healthOf(modules),
  });
  for (const { name, module } of modules) plugIn(context, name, module);
  await startAll(modules, stores, pool);
  const stopHousekeeping = startHousekeeping(context);
  let stopped: Promise<void> | undefined;
  return {
    version,
    transport: transport.name,
    threads,
    listeners: modules.flatMap(({ module }) => module.listeners()),
    modules: modules.map(({ name, adapter }) => ({ name, ...(adapter !== undefined && { adapter: adapter.name }) })),
    warnings: [...startWarnings(config, filesMax), ...warnings],
    counters: context.counters,
    storeFailed,
    drain({ timeoutMs = config.settings.drain_timeout_ms } = {}) {
      stopped ??= stop(context, modules, timeoutMs).then(async () => {
        stopHousekeeping();
        openFiles.stop();
        await Promise.all([stores.close(), pool.close()]);
      });
      return stopped;
    },
  };
}

interface BuiltModule extends ListedModule {
  readonly module: EngineModule;
}

function chooseTransport(clock: Clock) {
  const selected = selectTransport({ asked: process.env.SVC_TRANSPORT, loadUws, clock });
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

function buildModules(listed: readonly ListedModule[], context: ModuleContext): BuiltModule[] {
  return listed.map((entry) => ({ ...entry, module: entry.definition.create(context, entry.config, entry.adapter) }));
}

async function startAll(modules: readonly BuiltModule[], stores: StoreRegistry, pool: Pool): Promise<void> {
  const started: EngineModule[] = [];
  try {
    await stores.start();
    for (const { module } of modules) {
      await module.start();
      started.push(module);
    }
  } catch (error) {
    for (const module of started.reverse()) module.stop();
    await Promise.all([stores.close(), pool.close()]);
    throw startErrorOf(error);
  }
}

function startErrorOf(error: unknown): unknown {
  if (error instanceof ListenError || error instanceof StoreInUse) return new StartError(7, error.message);
  if (error instanceof StoreDamaged) return new StartError(74, error.message);
  return error instanceof StartFailure ? new StartError(error.exitCode, error.message) : error;
}

const DRAIN_CHECK_INTERVAL_MS = 20;
/** For answers that are written but not read yet; together with the drain's own time below the 5 s of G1. */
const UNREAD_ANSWERS_MS_MAX = 2_000;

async function stop(context: RouterContext, modules: readonly BuiltModule[], drainTimeoutMs: number): Promise<void> {
  context.isDraining = true;
  context.logger.info('Draining', { calls_in_flight: context.calls.openCount, drain_timeout_ms: drainTimeoutMs });
  for (const { module } of modules) module.drain();
  for (const session of context.sessions.values()) session.send({ type: 'draining' });
  await waitUntil(context, drainTimeoutMs, () => context.calls.openCount === 0);
  context.isStopped = true;
  for (const call of context.calls.allOpen()) settle(context, call, outcomeOf(refusals.shuttingDown()));
  await endOfTurn(context);
  await waitUntil(context, UNREAD_ANSWERS_MS_MAX, () => !hasUnsentFrames(context));
  const goodbye = { code: CLOSE_CODES.goingAway, reason: 'the engine is shutting down' };
  for (const session of [...context.sessions.values()]) withdraw(context, session, goodbye, refusals.shuttingDown());
  context.channels.stop();
  context.outgoing.close();
  await endOfTurn(context);
  for (const { module } of [...modules].reverse()) module.stop();
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

/** By name; of several ports of one module the worst counts. */
function healthOf(modules: readonly BuiltModule[]): Record<string, ModuleHealth> {
  const health: Record<string, ModuleHealth> = {};
  for (const { name, module } of modules) {
    const own = module.health();
    const known = health[name];
    if (known === undefined || SEVERITY.indexOf(own.status) > SEVERITY.indexOf(known.status)) health[name] = own;
  }
  return health;
}

const SEVERITY: readonly ModuleHealth['status'][] = ['healthy', 'degraded', 'unhealthy'];
