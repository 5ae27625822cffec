// A further router of the process, on a thread of its own: its sockets, its registrations, and the calls between its
// workers. What the modules of the engine do, the first router does for it.

import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Cluster } from '../../cluster/cluster.ts';
import { RouterMesh } from '../../cluster/routers/mesh.ts';
import type { ModuleKey } from '../../config/changes.ts';
import { ProcessCounts } from '../../core/limits/process-counts.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import { sharedZeroMs, systemClock } from '../../effects/clock.ts';
import { createLogger } from '../../effects/logger.ts';
import { OpenFilesWatch } from '../../effects/open-files.ts';
import { startLoadGauge } from '../../effects/process-figures.ts';
import { StartFailure } from '../../effects/start-failure.ts';
import { wholeLines } from '../../effects/threads/observation-thread.ts';
import { createOwnThread, createPool } from '../../effects/threads/pool.ts';
import { engineVersion } from '../../effects/version.ts';
import { MODULES_OF_ROUTERS } from '../../modules/catalogue-of-routers.ts';
import { engineModule } from '../../modules/engine/index.ts';
import { PassOn } from '../../modules/http/passed/pass-on.ts';
import type { EngineModule, ModuleContext, Reconfiguration, RunningConfiguration } from '../../modules/module.ts';
import { PassedHttp } from '../../modules/passed-http.ts';
import { plugIn, unplug } from '../../modules/plug-in.ts';
import { ReservedPaths } from '../../modules/reserved-paths.ts';
import { SharedState } from '../../modules/shared-state.ts';
import { SharedStreams } from '../../modules/shared-streams.ts';
import { HomeStreams } from '../../modules/stream/outlets/home-streams.ts';
import { Taps } from '../../modules/taps.ts';
import { LargeFrames } from '../../router/calls/large-frames.ts';
import { loadOf, type RouterContext } from '../../router/context.ts';
import { RouterPort } from '../../router/port.ts';
import { Router } from '../../router/router.ts';
import { startHousekeeping, startPressureWatch } from '../../router/session/housekeeping.ts';
import { StoreRegistry } from '../../store/directory/registry.ts';
import { answerUpdate } from '../../store/redis/evaluate-update.ts';
import { selectTransport } from '../../transport/select-transport.ts';
import { FlushQueue } from '../../transport/send-queue.ts';
import { ListenError } from '../../transport/transport.ts';
import { loadUws } from '../../transport/uws/uws-library.ts';
import { buildContext } from '../build-context.ts';
import { drainRouter } from '../drain.ts';
import { joinCluster } from '../join-cluster.ts';
import { moduleSettings } from '../settings-of-parts.ts';
import type { RouterModule } from './modules-of-routers.ts';
import { OwnState } from './own-state.ts';
import type { FiredTrigger, FromRouterThread, RouterThreadData, ToRouterThread } from './thread-messages.ts';
import { observabilityOf } from './thread-observability.ts';
import { collectorFor, ThreadTelemetry } from './thread-telemetry.ts';

const STDERR = 2;
const COUNTS_INTERVAL_MS = 250;

export async function runRouterThread(): Promise<void> {
  const data: RouterThreadData = workerData;
  const router = await RouterOnThread.start(data);
  process.on('uncaughtException', (error) => router.failed(error));
  parentPort?.on('message', (message: ToRouterThread) => router.take(message));
}

function say(message: FromRouterThread): void {
  parentPort?.postMessage(message);
}

interface OwnModule extends ModuleKey, PortOfHome {
  readonly module: EngineModule;
}

/** What the first router has chosen: the number for port 0, and the name by which jobs know a port with `rbac`. */
interface PortOfHome {
  readonly port: number | undefined;
  readonly portName?: string | undefined;
}

class RouterOnThread {
  readonly #data: RouterThreadData;
  readonly #context: RouterContext;
  readonly #moduleContext: ModuleContext;
  readonly #mesh: RouterMesh;
  readonly #telemetry: ThreadTelemetry;
  readonly #collector: Collector;
  readonly #passOn: PassOn;
  readonly #streams = new HomeStreams((message) => say({ kind: 'streams', message }));
  #modules: OwnModule[] = [];
  readonly #state: OwnState;
  #cluster: Cluster | undefined;
  /** By the number of the question. */
  readonly #prepared = new Map<number, () => void>();
  #proceed = (): void => {};
  #firedUpToMs = 0;

  static async start(data: RouterThreadData): Promise<RouterOnThread> {
    const selected = await selectTransport({ requested: process.env.SVC_TRANSPORT, loadUws, clock: systemClock });
    if (!selected.ok) throw new Error(selected.text);
    return new RouterOnThread(data, selected.transport);
  }

  private constructor(data: RouterThreadData, transport: ModuleContext['transport']) {
    const { settings, console, filesMax, lines, ownId, homeId, order, poolThreads } = data;
    const write = wholeLines((bytes) => writeSync(STDERR, bytes));
    const logger = createLogger({ ...console, clock: systemClock, write, isConsole: true });
    const processCounts = new ProcessCounts(data.counts, data.index, sharedZeroMs());
    const context = buildContext({ config: { settings }, logger }, processCounts);
    const { clock, random, outgoing, environment } = context;
    this.#data = data;
    this.#context = context;
    const router = new Router(context, new FlushQueue(clock), new LargeFrames(createPool(poolThreads)));
    const port = new RouterPort(context);
    this.#passOn = new PassOn((message) => say({ kind: 'http', message }), clock);
    this.#moduleContext = {
      ...{ router: port, connections: router, transport, clock, random, logger, outgoing, environment },
      stores: new StoreRegistry({
        ...{ clock, random, logger, counters: context.counters, isDropIn: context.settings.isDropIn },
        createWorker: () => createOwnThread('store'),
        onFailure: () => {},
      }),
      settings: { ...moduleSettings({ settings }, filesMax), portSharing: 'further' },
      version: engineVersion(),
      openFiles: new OpenFilesWatch(filesMax, clock, logger),
      reservedPaths: new ReservedPaths(),
      passedHttp: new PassedHttp(this.#passOn),
      processCounts,
      sharedState: new SharedState(),
      sharedStreams: new SharedStreams(this.#streams),
      taps: new Taps(),
      engine: OF_HOME,
      threads: {
        own: createOwnThread,
        evaluateAlerts: async () => [],
        evaluateUpdate: async (task) => answerUpdate(task),
      },
      modulesHealth: () => ({}),
      configuration: FIXED,
    };
    this.#telemetry = new ThreadTelemetry(data.index, (batch) => say({ kind: 'telemetry', batch }));
    this.#collector = collectorFor(context, data.telemetry, this.#telemetry);
    context.observer = this.#collector;
    const observability = observabilityOf(this.#collector, data.telemetry);
    const ownObservability = observability.create(this.#moduleContext, {});
    this.#modules = [{ name: observability.declaration.name, nth: 0, port: undefined, module: ownObservability }];
    plugIn(context, observability.declaration.name, ownObservability);
    plugIn(context, 'svc-engine-functions', this.#withoutStart(engineModule.create(this.#moduleContext, {})));
    startHousekeeping(context);
    if (!data.isAtEase) startPressureWatch(context, startLoadGauge(), () => this.#state.waitingCommands);
    clock.every(COUNTS_INTERVAL_MS, () => this.#count());
    const fail = (reason: string): never => {
      throw new Error(reason);
    };
    this.#mesh = new RouterMesh({ context, lines, ownId, homeId, order, fail });
    this.#state = new OwnState(context, (reason) => say({ kind: 'store failed', reason }));
    this.#mesh.runsItself(this.#state.functions, () => this.#state.isHeard);
    void this.#mesh.ready.then(() => say({ kind: 'ready' }));
  }

  take(message: ToRouterThread): void {
    switch (message.kind) {
      case 'listen':
        this.#context.quietTraces.adopt(message.markKey);
        void this.#listen(message.ports);
        return;
      case 'state':
        return this.#state.open(message.state);
      case 'drain':
        void this.#drain(message.timeoutMs);
        return;
      case 'flush':
        this.#collector.flush();
        this.#count();
        return say({ kind: 'flushed' });
      case 'proceed':
        return this.#proceed();
      case 'abandon':
        return this.#abandon();
      case 'taken':
        return this.#telemetry.taken();
      case 'http':
        return this.#passOn.take(message.message);
      case 'streams':
        return this.#streams.take(message.message);
      case 'gauges':
        return this.#collector.noteGauges(message.gauges);
      case 'reconfigure':
        return void this.#reconfigure(message.number, message.key, message.config);
      case 'commit':
        this.#prepared.get(message.number)?.();
        return void this.#prepared.delete(message.number);
      case 'add':
        this.#moduleContext.processCounts.continuePortsAt(message.portsBefore);
        return void this.#add(message.number, message.modules, message.ports);
      case 'remove':
        return this.#remove(message.key);
    }
  }

  async #listen(ports: readonly number[]): Promise<void> {
    try {
      const { settings } = this.#data;
      this.#cluster = await joinCluster(settings, undefined, this.#context, engineVersion(), this.#mesh.asMember);
      await this.#startModules(this.#data.modules, ports);
      // From now on lists show it.
      this.#count();
      say({ kind: 'listening' });
    } catch (error) {
      say({ kind: 'failed', exitCode: exitCodeOf(error), message: messageOf(error) });
    }
  }

  async #startModules(modules: readonly RouterModule[], ports: readonly number[]): Promise<void> {
    const started: EngineModule[] = [];
    for (const [at, { name, nth, config, portName }] of modules.entries()) {
      const definition = MODULES_OF_ROUTERS.find(({ declaration }) => declaration.name === name);
      const ofHome = { port: ports[at], portName };
      const module = definition?.create(this.#moduleContext, withPort(config, ofHome));
      if (module === undefined) throw new Error(`There is no module ${name}`);
      this.#mesh.provides(module.triggerTypes);
      plugIn(this.#context, name, module);
      this.#modules.push({ name, nth, ...ofHome, module });
      await module.start();
      started.push(module);
    }
    for (const module of started) module.started?.();
  }

  async #add(number: number, modules: readonly RouterModule[], ports: readonly number[]): Promise<void> {
    try {
      await this.#startModules(modules, ports);
      say({ kind: 'answered', number });
    } catch (error) {
      // The first router then removes them from all.
      say({ kind: 'answered', number, reason: messageOf(error) });
    }
  }

  async #reconfigure(number: number, key: ModuleKey, config: unknown): Promise<void> {
    const own = this.#modules.find((one) => isSame(one, key));
    const answer = (await own?.module.reconfigure?.(withPort(config, own))) ?? UNCHANGED;
    if (answer.ok) this.#prepared.set(number, () => answer.commit());
    say({ kind: 'answered', number, ...(!answer.ok && { reason: answer.reason }) });
  }

  /** Those of the same name after it get the next lower number, as on the first router. */
  #remove(key: ModuleKey): void {
    const removed = this.#modules.find((own) => isSame(own, key));
    this.#modules = this.#modules
      .filter((own) => own !== removed)
      .map((own) => (own.name === key.name && own.nth > key.nth ? { ...own, nth: own.nth - 1 } : own));
    if (removed === undefined) return;
    removed.module.drain();
    unplug(this.#context, removed.name, removed.module);
    removed.module.stop();
  }

  async #drain(timeoutMs: number): Promise<void> {
    const modules = {
      drain: () => this.#modules.forEach(({ module }) => module.drain()),
      stop: () => this.#modules.forEach(({ module }) => module.stop()),
    };
    await drainRouter(this.#context, modules, timeoutMs, this.#cluster, {
      meet: () => {
        say({ kind: 'arrived' });
        return new Promise((resolve) => {
          this.#proceed = resolve;
        });
      },
    });
    await this.#cluster?.close();
    this.#collector.flush();
    this.#count();
    say({ kind: 'drained' });
  }

  /** Node ends the process with SIGABRT where a thread ends with open sockets of uWebSockets.js. */
  #abandon(): void {
    for (const { module } of this.#modules) module.stop();
    const { clock } = this.#context;
    // The library closes them in the next turn.
    clock.afterTurn(() =>
      clock.afterTurn(() => {
        const closed = new Int32Array(this.#data.closed);
        Atomics.add(closed, 0, 1);
        Atomics.notify(closed, 0);
      }),
    );
  }

  /** What nothing has caught leaves this router in an unknown state. */
  failed(error: unknown): void {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say({ kind: 'failed', exitCode: 1, message });
  }

  #count(): void {
    const fired = this.#firedSince(this.#firedUpToMs);
    this.#firedUpToMs = fired.reduce((newest, { atMs }) => Math.max(newest, atMs), this.#firedUpToMs);
    const load = loadOf(this.#context, this.#cluster?.trouble);
    say({ kind: 'counted', counts: this.#context.counters.snapshot(), load, fired });
  }

  /** Lists of triggers are those of the first router. */
  #firedSince(sinceMs: number): FiredTrigger[] {
    const fired: FiredTrigger[] = [];
    for (const { id, lastFiredAtMs: atMs, error } of this.#context.triggers.bindings()) {
      if (atMs !== undefined && atMs > sinceMs) fired.push({ id, atMs, error });
    }
    return fired;
  }

  /** What it keeps, the first router keeps. */
  #withoutStart(module: EngineModule): EngineModule {
    return { ...module, start: async () => {} };
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ListenError) return 7;
  return error instanceof StartFailure ? error.exitCode : 70;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isSame(one: ModuleKey, other: ModuleKey): boolean {
  return one.name === other.name && one.nth === other.nth;
}

function withPort(config: unknown, { port, portName: name }: PortOfHome): unknown {
  if (port === undefined || typeof config !== 'object') return config;
  return { ...config, port, ...(name !== undefined && { name }) };
}

const UNCHANGED: Reconfiguration = { ok: true, commit: () => {} };

const OF_HOME: ModuleContext['engine'] = {
  knownModules: [],
  config: () => {
    throw new Error('The first router answers this');
  },
  configSchema: () => {
    throw new Error('The first router answers this');
  },
};

const FIXED: RunningConfiguration = {
  file: undefined,
  projectWorkers: [],
  problem: undefined,
  listeners: () => [],
  addEntry: () => Promise.reject(new Error('The first router does this')),
  removeEntry: () => Promise.reject(new Error('The first router does this')),
  reload: () => Promise.reject(new Error('The first router does this')),
  onReload: () => {},
};
