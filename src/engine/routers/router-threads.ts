// The further routers of this process, each on a thread of its own, as the main thread sees them.
//
// Invariant: there is no half engine. A router thread that ends before it was asked to ends the process.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { RoutersOfProcess } from '../../cluster/identity.ts';
import { RouterMesh } from '../../cluster/routers/mesh.ts';
import type { ModuleKey } from '../../config/changes.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ProcessCounts } from '../../core/limits/process-counts.ts';
import type { SourceGauges, TelemetryBatch } from '../../core/telemetry/records/intake.ts';
import type { ConsoleStyle } from '../../effects/logger.ts';
import { delayEnd, LOAD_MS_MAX, withinMs } from '../../effects/process-end.ts';
import type { SharedLine } from '../../effects/shared-memory/carrier.ts';
import { createRing } from '../../effects/shared-memory/ring.ts';
import { StartFailure } from '../../effects/start-failure.ts';
import { environment } from '../../effects/threads/pool.ts';
import { TakeOver } from '../../modules/http/passed/take-over.ts';
import type { ListenerAddress, Reconfiguration } from '../../modules/module.ts';
import type { PassedHttp } from '../../modules/passed-http.ts';
import type { SharedState } from '../../modules/shared-state.ts';
import type { SharedStreams, StreamOwner } from '../../modules/shared-streams.ts';
import type { FromOutlet } from '../../modules/stream/outlets/messages.ts';
import type { Tap } from '../../modules/taps.ts';
import type { RouterContext } from '../../router/context.ts';
import type { StoreRegistry } from '../../store/directory/registry.ts';
import { MEMORY } from '../../store/thread/client.ts';
import type { DrainOfOthers } from '../drain.ts';
import type { AddedModule } from '../module-set.ts';
import { modulesOfRouters, portsOf, type RouterModule, telemetryOf } from './modules-of-routers.ts';
import type {
  FiredTrigger,
  FromRouterThread,
  RouterThreadData,
  StateAccess,
  ToRouterThread,
} from './thread-messages.ts';
import { ownSource } from './thread-sources.ts';

export interface RouterThreadsOptions {
  readonly config: LoadedConfig;
  readonly context: RouterContext;
  /** Routers of the process; the first one is that of the main thread. */
  readonly threads: number;
  readonly console: ConsoleStyle;
  readonly filesMax: number | undefined;
  readonly poolThreads: number;
  /** The load of the threads does not count. */
  readonly isAtEase: boolean;
  /** Batches of the further routers. */
  readonly batches: Tap<TelemetryBatch>;
  /** The HTTP module of the first router. */
  readonly passedHttp: PassedHttp;
  readonly processCounts: ProcessCounts;
  readonly stores: StoreRegistry;
  /** Of the state module of the first router. */
  readonly sharedState: SharedState;
  /** The stream module of the first router. */
  readonly sharedStreams: SharedStreams;
  /** A store of this process has failed. */
  readonly storeFailed: (reason: string) => void;
  /** The process has to end. */
  readonly fail: (reason: string) => void;
}

export class RouterThreads {
  readonly #options: RouterThreadsOptions;
  readonly #mesh: RouterMesh;
  readonly #threads: RouterThread[];
  /** The first router as a member of a cluster. */
  readonly ofProcess: RoutersOfProcess;
  readonly #closed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  constructor(options: RouterThreadsOptions) {
    this.#options = options;
    const { context, threads, fail } = options;
    const ids = Array.from({ length: threads }, () => context.random.key());
    const [homeId = ''] = ids;
    const lines = linesBetween(ids);
    const order = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const shared = { homeId, order, closed: this.#closed.buffer };
    process.once('exit', this.#abandon);
    this.#threads = ids
      .slice(1)
      .map((ownId, at) => new RouterThread(options, at + 1, { ...shared, ownId }, lines[at + 1] ?? []));
    this.#mesh = new RouterMesh({ ...shared, context, ownId: homeId, lines: lines[0] ?? [], fail });
    this.ofProcess = this.#mesh.asMember;
  }

  /** The modules of the first router have started: the others know them, and listen where it listens. */
  async listen(listeners: () => readonly ListenerAddress[]): Promise<void> {
    this.#mesh.modulesChanged();
    this.#options.context.moduleListeners.add(() => this.#mesh.modulesChanged());
    await Promise.all(this.#threads.map((thread) => thread.ready));
    const { key: markKey } = this.#options.context.quietTraces;
    const ports = portsOf(modulesOfRouters(this.#options.config), listeners());
    const { sharedState, fail } = this.#options;
    await this.#shareState();
    sharedState.started = () => {
      this.#shareState().catch((error: unknown) => fail(`A router thread cannot reach the store: ${String(error)}`));
    };
    await Promise.all(this.#threads.map((thread) => thread.listen(ports, markKey)));
  }

  /** Each gets a port of its own. */
  async #shareState(): Promise<void> {
    const { stores, sharedState } = this.#options;
    const { kept } = sharedState;
    if (kept === undefined) return;
    const { store, flag } = kept;
    const name = store.details.file_path ?? MEMORY;
    for (const thread of this.#threads) {
      const port = await stores.portTo(store);
      // A reload may have started the module once more.
      if (sharedState.kept !== kept) return port.close();
      thread.openState({ port, name, flag });
    }
  }

  /** Whether all can use the other settings of a module. */
  async reconfigure(key: ModuleKey, config: unknown): Promise<Reconfiguration> {
    const answers = await Promise.all(this.#threads.map((thread) => thread.reconfigure(key, config)));
    const commit = () => answers.forEach((answer) => answer.ok && answer.commit());
    return answers.find(({ ok }) => !ok) ?? { ok: true, commit };
  }

  /** The first router has started these: the others listen where it does, or none of them. */
  async add(modules: readonly AddedModule[], countBefore: (name: string) => number): Promise<void> {
    const added = modulesOfRouters({ modules }).map((module) => ({
      ...module,
      nth: countBefore(module.name) + module.nth,
    }));
    if (added.length === 0) return;
    const ports = portsOf(
      added,
      modules.flatMap(({ listeners }) => listeners),
    );
    const portsOfWorkers = added.filter(({ port }) => port === 'workers' || port === 'browsers').length;
    const portsBefore = this.#options.processCounts.portCount - portsOfWorkers;
    const reasons = await Promise.all(this.#threads.map((thread) => thread.add(added, ports, portsBefore)));
    const reason = reasons.find((one) => one !== undefined);
    if (reason === undefined) return;
    for (const key of added.toReversed()) this.remove(key);
    throw new StartFailure(7, reason);
  }

  remove(key: ModuleKey): void {
    for (const thread of this.#threads) thread.remove(key);
  }

  /** Resolves when everything that they have observed has come. */
  async flush(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.flush()));
  }

  /** Sent to the routers of these sources. */
  noteGauges(gauges: readonly SourceGauges[]): void {
    const byRouter = new Map<number, SourceGauges[]>();
    for (const [source, read] of gauges) {
      const own = ownSource(source);
      if (own === undefined) continue;
      const ofRouter = byRouter.get(own.router) ?? [];
      byRouter.set(own.router, ofRouter);
      ofRouter.push([own.source, read]);
    }
    for (const [router, ofRouter] of byRouter) this.#threads[router - 1]?.noteGauges(ofRouter);
  }

  beginDrain(timeoutMs: number): void {
    for (const thread of this.#threads) thread.beginDrain(timeoutMs);
  }

  readonly drain: DrainOfOthers = {
    meet: async () => {
      await Promise.all(this.#threads.map((thread) => thread.arrival()));
      for (const thread of this.#threads) thread.proceed();
    },
  };

  async close(): Promise<void> {
    await Promise.allSettled(this.#threads.map(({ drained }) => drained));
    process.off('exit', this.#abandon);
    this.#abandon();
    await Promise.all(this.#threads.map((thread) => thread.close()));
    this.#mesh.stop();
  }

  /** The process or the engine ends: every thread closes its sockets first. */
  readonly #abandon = (): void => {
    for (const thread of this.#threads) thread.abandon();
    const { clock } = this.#options.context;
    const endMs = clock.monotonicMs() + ABANDON_MS_MAX;
    for (let closed = 0; closed < this.#threads.length; closed = Atomics.load(this.#closed, 0)) {
      const restMs = endMs - clock.monotonicMs();
      if (restMs <= 0 || Atomics.wait(this.#closed, 0, closed, restMs) === 'timed-out') return;
    }
  };
}

const ABANDON_MS_MAX = 500;

class RouterThread {
  /** After a drain it has closed its connections. */
  drained: Promise<void> = Promise.resolve();
  /** It can listen. */
  readonly ready: Promise<void>;
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  readonly #index: number;
  readonly #options: RouterThreadsOptions;
  readonly #takeOver: TakeOver;
  #streamOwner: StreamOwner | undefined;
  #streams: ((message: FromOutlet) => void) | undefined;
  readonly #asked = new Map<number, (reason: string | undefined) => void>();
  #questions = 0;
  readonly #awaited = new Map<FromRouterThread['kind'], { resolve(): void; reject(error: Error): void }>();
  #counts: Readonly<Record<string, number>> = {};
  readonly #flushing: (() => void)[] = [];
  /** How often it has come to a meeting, less how often the first router has asked. */
  #arrivals = 0;
  readonly #whenArrived: (() => void)[] = [];
  #isListening = false;
  #isEnding = false;

  constructor(
    options: RouterThreadsOptions,
    index: number,
    ids: Pick<RouterThreadData, 'ownId' | 'homeId' | 'order' | 'closed'>,
    lines: readonly SharedLine[],
  ) {
    const { config, console, filesMax, poolThreads, isAtEase } = options;
    this.#options = options;
    this.#index = index;
    this.#takeOver = new TakeOver(options.passedHttp, (message) => this.#say({ kind: 'http', message }));
    const data: RouterThreadData = {
      ...{ ...ids, index, lines, settings: config.settings, modules: modulesOfRouters(config) },
      telemetry: telemetryOf(config, process.env),
      counts: options.processCounts.shared,
      ...{ console, filesMax, poolThreads, isAtEase },
    };
    this.#worker = new Worker(routerFile(), {
      workerData: data,
      transferList: lines.map(({ port }) => port),
      env: environment(),
    });
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.ready = this.#answer('ready');
    // It is awaited later: until then a failure has a handler here.
    delayEnd(this.ready);
    this.#worker.on('message', (message: FromRouterThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#failed(`Router thread ${index} ended: ${error.stack ?? error.message}`));
    this.#worker.on('exit', (code) => this.#failed(`Router thread ${index} ended with code ${code}`));
  }

  listen(ports: readonly number[], markKey: string): Promise<void> {
    this.#say({ kind: 'listen', ports, markKey });
    return this.#answer('listening');
  }

  openState(state: StateAccess): void {
    this.#say({ kind: 'state', state }, [state.port]);
  }

  async reconfigure(key: ModuleKey, config: unknown): Promise<Reconfiguration> {
    const number = ++this.#questions;
    const reason = await this.#ask(number, { kind: 'reconfigure', number, key, config });
    return reason === undefined
      ? { ok: true, commit: () => this.#say({ kind: 'commit', number }) }
      : { ok: false, reason };
  }

  /** Resolves with the reason why it cannot. */
  add(modules: readonly RouterModule[], ports: readonly number[], portsBefore: number): Promise<string | undefined> {
    const number = ++this.#questions;
    return this.#ask(number, { kind: 'add', number, modules, ports, portsBefore });
  }

  remove(key: ModuleKey): void {
    this.#say({ kind: 'remove', key });
  }

  /** Answers come in the order of the questions. */
  flush(): Promise<void> {
    this.#say({ kind: 'flush' });
    return new Promise((resolve) => this.#flushing.push(resolve));
  }

  noteGauges(gauges: readonly SourceGauges[]): void {
    this.#say({ kind: 'gauges', gauges });
  }

  beginDrain(timeoutMs: number): void {
    this.drained = this.#answer('drained');
    // It is awaited later, where its failure does not matter.
    this.drained.catch(() => {});
    this.#say({ kind: 'drain', timeoutMs });
  }

  /** Resolves when it waits for the others. It may do so before the first router does. */
  async arrival(): Promise<void> {
    this.#arrivals--;
    if (this.#arrivals < 0) await new Promise<void>((resolve) => this.#whenArrived.push(resolve));
  }

  proceed(): void {
    this.#say({ kind: 'proceed' });
  }

  abandon(): void {
    this.#isEnding = true;
    this.#say({ kind: 'abandon' });
  }

  async close(): Promise<void> {
    // A thread that is ended while it loads would end the process.
    await withinMs(LOAD_MS_MAX, Promise.allSettled([this.ready]));
    await this.#worker.terminate();
    await this.#ended;
  }

  #take(message: FromRouterThread): void {
    switch (message.kind) {
      case 'telemetry':
        this.#options.batches.publish(message.batch);
        return this.#say({ kind: 'taken' });
      case 'store failed':
        return this.#options.storeFailed(message.reason);
      case 'http':
        return this.#takeOver.take(message.message);
      case 'streams':
        return this.#streamsOf(this.#options.sharedStreams.owner)?.(message.message);
      case 'answered':
        this.#asked.get(message.number)?.(message.reason);
        return void this.#asked.delete(message.number);
      case 'flushed':
        return this.#flushing.shift()?.();
      case 'arrived':
        this.#arrivals++;
        return this.#whenArrived.shift()?.();
      case 'counted':
        this.#options.context.furtherRouters.set(this.#index, message.load);
        for (const fired of message.fired) this.#noteFired(fired);
        return this.#count(message.counts);
      case 'failed':
        return this.#hasFailed(message.exitCode, message.message);
      default:
        if (message.kind === 'listening') this.#isListening = true;
        this.#awaited.get(message.kind)?.resolve();
    }
  }

  /** A reload may have replaced the module. */
  #streamsOf(owner: StreamOwner | undefined): ((message: FromOutlet) => void) | undefined {
    if (owner === this.#streamOwner) return this.#streams;
    this.#streamOwner = owner;
    this.#streams = owner?.connect((message) => this.#say({ kind: 'streams', message }));
    return this.#streams;
  }

  /** While it starts, or later. */
  #hasFailed(exitCode: number, message: string): void {
    if (this.#isListening) this.#failed(`Router thread ${this.#index}: ${message}`);
    else this.#reject(new StartFailure(exitCode, message));
  }

  #failed(reason: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { fail, context } = this.#options;
    context.logger.error('The engine ends, because one of its router threads has ended', { reason });
    this.#reject(new StartFailure(1, reason));
    fail(reason);
  }

  #reject(error: Error): void {
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
    // A drain does not wait for it.
    this.#arrivals = Number.POSITIVE_INFINITY;
    for (const arrived of this.#whenArrived.splice(0)) arrived();
  }

  #noteFired({ id, atMs, error }: FiredTrigger): void {
    const binding = this.#options.context.triggers.binding(id);
    if (binding === undefined || (binding.lastFiredAtMs ?? 0) > atMs) return;
    binding.lastFiredAtMs = atMs;
    binding.error = error;
  }

  /** The counts of the process are those of all routers. */
  #count(counts: Readonly<Record<string, number>>): void {
    const { counters } = this.#options.context;
    for (const [key, count] of Object.entries(counts)) {
      const more = count - (this.#counts[key] ?? 0);
      if (more > 0) counters.count(key, undefined, more);
    }
    this.#counts = counts;
  }

  #ask(number: number, question: ToRouterThread): Promise<string | undefined> {
    this.#say(question);
    return new Promise((resolve) => this.#asked.set(number, resolve));
  }

  #answer(kind: FromRouterThread['kind']): Promise<void> {
    return new Promise((resolve, reject) => this.#awaited.set(kind, { resolve, reject }));
  }

  #say(message: ToRouterThread, handedOver: readonly MessagePort[] = []): void {
    this.#worker.postMessage(message, handedOver);
  }
}

/** Next to the sources when they run directly, otherwise part of the bundle. */
function routerFile(): URL {
  const path = import.meta.url.endsWith('.ts') ? '../../../workers/router.ts' : './router.js';
  return new URL(path, import.meta.url);
}

/** By router, its ends of the lines to all others. */
function linesBetween(ids: readonly string[]): SharedLine[][] {
  const lines: SharedLine[][] = ids.map(() => []);
  for (const [one, oneId] of ids.entries()) {
    for (const [other, otherId] of ids.entries()) {
      if (other <= one) continue;
      const [there, back] = [createRing(), createRing()];
      const { port1, port2 } = new MessageChannel();
      lines[one]?.push({ peerId: otherId, outgoing: there, incoming: back, port: port1 });
      lines[other]?.push({ peerId: oneId, outgoing: back, incoming: there, port: port2 });
    }
  }
  return lines;
}
