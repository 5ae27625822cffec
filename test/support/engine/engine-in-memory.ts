// The engine between the sockets, as `src/engine/engine.ts` builds it: tables, router and built-in functions are real.
// Sockets, threads, clock and randomness are fakes that the test controls.

import type { Balance } from '../../../src/core/calls/select-worker.ts';
import { allowListOf } from '../../../src/core/limits/outgoing-rules.ts';
import { ProcessCounts } from '../../../src/core/limits/process-counts.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { areScarce, type OpenFilesCount } from '../../../src/effects/open-files.ts';
import { OutgoingClient } from '../../../src/effects/outgoing.ts';
import { engineModule } from '../../../src/modules/engine/index.ts';
import type { ModuleContext, ModuleSettings, StreamLimits } from '../../../src/modules/module.ts';
import { PassedHttp } from '../../../src/modules/passed-http.ts';
import { plugIn } from '../../../src/modules/plug-in.ts';
import { ReservedPaths } from '../../../src/modules/reserved-paths.ts';
import { SharedState } from '../../../src/modules/shared-state.ts';
import { SharedStreams } from '../../../src/modules/shared-streams.ts';
import { Taps } from '../../../src/modules/taps.ts';
import { SUBPROTOCOL_JSON, type Subprotocol } from '../../../src/protocol/frames/subprotocols.ts';
import type { BuiltinDefinition } from '../../../src/router/builtin.ts';
import { LargeFrames } from '../../../src/router/calls/large-frames.ts';
import type { ChannelSettings } from '../../../src/router/channels/channels.ts';
import type { RouterContext, RouterSettings } from '../../../src/router/context.ts';
import { createContext } from '../../../src/router/create-context.ts';
import { RouterPort } from '../../../src/router/port.ts';
import type { Guard } from '../../../src/router/restricted/guard.ts';
import { Router } from '../../../src/router/router.ts';
import { startHousekeeping } from '../../../src/router/session/housekeeping.ts';
import type { SessionLimits } from '../../../src/router/session/session.ts';
import { FlushQueue } from '../../../src/transport/send-queue.ts';
import type { SocketEvents } from '../../../src/transport/socket.ts';
import { TestWorker } from '../clients/test-worker.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { FakePool } from '../fakes/fake-pool.ts';
import { FakeSocket } from '../fakes/fake-socket.ts';
import { FakeSpillFiles } from '../fakes/fake-spill-file.ts';
import { SeededRandom } from '../random/seeded-random.ts';

const MIB = 1024 * 1024;

export interface InMemoryOptions {
  readonly settings?: Partial<RouterSettings>;
  /** Limits of every connection. */
  readonly limits?: Partial<SessionLimits>;
  readonly channels?: Partial<ChannelSettings>;
  readonly balance?: Balance | Readonly<Record<string, Balance>>;
  /** Functions in addition to those of the module `engine`. */
  readonly builtins?: readonly BuiltinDefinition[];
  readonly clock?: FakeClock;
  readonly random?: SeededRandom;
  /** Private hosts and addresses that functions with a URL may reach. */
  readonly outgoing?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What all routers of the process have together. */
  readonly counts?: ProcessCounts;
}

export interface ConnectOptions {
  /** It asked for a subprotocol of the engine. */
  readonly ownSdk?: boolean;
  /** Limits of this connection. */
  readonly limits?: Partial<SessionLimits>;
  readonly address?: string;
}

const DEFAULT_LIMITS: SessionLimits = {
  inFlightPerWorker: 1024,
  inFlightPerCaller: 4096,
  outboundBufferBytes: 16 * MIB,
  outboundCloseBytes: 32 * MIB,
  functionsPerWorker: 5000,
  triggersPerWorker: 5000,
};

export class EngineInMemory {
  readonly clock: FakeClock;
  readonly pool = new FakePool();
  readonly spillFiles = new FakeSpillFiles();
  readonly context: RouterContext;
  readonly port: RouterPort;
  readonly router: Router;
  readonly logLines: string[] = [];
  /** The reported number of open files. */
  openFiles: OpenFilesCount | undefined;
  readonly #limits: SessionLimits;
  readonly #stopHousekeeping: () => void;

  constructor(options: InMemoryOptions = {}) {
    this.clock = options.clock ?? new FakeClock();
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.context = createContext({
      settings: { ...DEFAULT_SETTINGS, ...options.settings },
      channels: { ...DEFAULT_CHANNELS, ...options.channels },
      balance: options.balance ?? 'least_in_flight',
      clock: this.clock,
      random: options.random ?? new SeededRandom(1),
      logger: createLogger({
        level: 'debug',
        format: 'default',
        clock: this.clock,
        write: (line) => this.logLines.push(line),
      }),
      openSpillFile: this.spillFiles.open,
      outgoing: new OutgoingClient({ listed: allowListOf(options.outgoing ?? []), clock: this.clock }),
      environment: options.environment ?? {},
      ...(options.counts && { counts: options.counts }),
    });
    this.port = new RouterPort(this.context);
    this.router = new Router(this.context, new FlushQueue(this.clock), new LargeFrames(this.pool));
    const { functions, triggerTypes } = engineModule.create(this.moduleContext(), {});
    const { builtins = [] } = options;
    plugIn(this.context, 'svc-engine-functions', { functions: [...functions, ...builtins], triggerTypes });
    this.#stopHousekeeping = startHousekeeping(this.context);
  }

  /** Connects a worker that has read its greeting. */
  connect({ ownSdk = false, limits, address = '127.0.0.1' }: ConnectOptions = {}): TestWorker {
    const socket = new FakeSocket();
    const events = this.router.connect({
      socket,
      remoteAddress: address,
      subprotocol: ownSdk ? SUBPROTOCOL_JSON : undefined,
      limits: { ...this.#limits, ...limits },
    });
    return new TestWorker({ clock: this.clock, socket, events, nextId: () => this.context.random.uuid() });
  }

  /** Connects a worker of any form, whose messages the test writes and reads. */
  connectSocket(socket: FakeSocket, subprotocol: Subprotocol, guard?: Guard): SocketEvents {
    return this.router.connect({ socket, remoteAddress: '127.0.0.1', subprotocol, limits: this.#limits, guard });
  }

  /** The value of a counter. */
  count(name: string, reason?: string): number {
    return this.context.counters.get(name, reason);
  }

  /** Ends the turn: frames are sent. */
  flush(): void {
    this.clock.flush();
  }

  /** Moves the clock. */
  advance(ms: number): void {
    this.clock.advance(ms);
  }

  /** Runs settled promises, then ends the turn. */
  async turn(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.clock.flush();
  }

  /** The context of a module of this engine. */
  moduleContext(): ModuleContext {
    return {
      router: this.port,
      connections: this.router,
      transport: { name: 'in memory', listen: refusePort, serve: refusePort },
      stores: { open: refuseStore, backUp: refuseStore, durable: undefined },
      settings: testModuleSettings(this.#limits),
      clock: this.clock,
      random: this.context.random,
      logger: this.context.logger,
      version: '0.0.0-test',
      openFiles: {
        count: () => this.openFiles,
        take: () => this.openFiles === undefined || !areScarce(this.openFiles),
      },
      reservedPaths: new ReservedPaths(),
      passedHttp: new PassedHttp(),
      sharedState: new SharedState(),
      sharedStreams: new SharedStreams(),
      processCounts: new ProcessCounts(),
      taps: new Taps(),
      engine: {
        knownModules: [],
        config: () => ({ yaml: '', effective: {}, values: [], file: null, warnings: [], last_reload: null }),
        configSchema: () => ({ top_level: [], modules: [] }),
      },
      configuration: {
        file: undefined,
        projectWorkers: [],
        problem: undefined,
        listeners: () => [],
        addEntry: refuseFile,
        removeEntry: refuseFile,
        reload: refuseFile,
        onReload: () => {},
      },
      threads: {
        own: refuseThread,
        evaluateAlerts: (inputs, nowMs) => this.pool.evaluateAlerts(inputs, nowMs),
        evaluateUpdate: (task) => this.pool.evaluateUpdate(task),
      },
      outgoing: this.context.outgoing,
      environment: {},
      modulesHealth: () => ({ 'svc-engine-functions': { status: 'healthy' } }),
    };
  }

  stop(): void {
    this.#stopHousekeeping();
  }
}

function refuseFile(): Promise<never> {
  return Promise.reject(new Error('An engine in memory has no configuration file'));
}

/** The context of a module without configuration. */
export function testModuleSettings(limits: SessionLimits = DEFAULT_LIMITS): ModuleSettings {
  return {
    isDropIn: false,
    bridgeToken: undefined,
    allowedHosts: [],
    trustedProxies: [],
    portSharing: undefined,
    http: { connectionsMax: 10_000, bodyBuffersBytesMax: 256 * MIB, answerBuffersBytesMax: 256 * MIB },
    trusted: { ...limits, frameBytes: 16 * MIB, connectionsMax: 10_000, connectionsPerSecondMax: 500 },
    browser: {
      ...limits,
      ...{ frameBytes: MIB, connectionsMax: 10_000, connectionsPerSecondMax: 500 },
      ...{ outboundBufferBytes: 4 * MIB, outboundCloseBytes: 4 * MIB, inFlightPerCaller: 64 },
      ...{ functionsPerWorker: 100, triggersPerWorker: 100 },
      perAddress: { connectionsMax: 200, connectionsPerSecondMax: 50 },
      messages: { perSecond: 200, burst: 400 },
      channels: { channelsMax: 64, bytesMax: 48 * MIB, perSecondMax: 20 },
      ...{ authCalls: 256, askMs: 5_000, registrationMs: 60_000, maxAgeMs: 43_200_000 },
    },
    stream: TEST_STREAM_LIMITS,
  };
}

export const TEST_STREAM_LIMITS: StreamLimits = {
  ...{ frameBytes: 64 * 1024, connectionsMax: 50_000, connectionsPerSecondMax: 500 },
  perAddress: { connectionsMax: 200, connectionsPerSecondMax: 50 },
  ...{ authCalls: 256, askMs: 5_000, registrationMs: 60_000 },
  ...{ outboundBufferBytes: MIB, outboundMessages: 1_000, subscriptions: 100 },
  messages: { perSecond: 200, burst: 400 },
  ...{ valueBytes: 4 * MIB, historyEvents: 1_000, historyMs: 300_000, historyBytes: MIB, allBuffersBytes: 512 * MIB },
};

/** A call for which no worker has a place is refused at once. */
export const NO_WAITING: Pick<RouterSettings, 'waiting'> = { waiting: { callsMax: 0, bytesMax: 0 } };

const DEFAULT_SETTINGS: RouterSettings = {
  isDropIn: false,
  inFlightMax: 65_536,
  waiting: { callsMax: 8192, bytesMax: 128 * MIB },
  outboundBytesMax: 512 * MIB,
  logPayloads: false,
};

const DEFAULT_CHANNELS: ChannelSettings = {
  channelsMax: 10_000,
  bufferBytesMax: MIB,
  buffersBytesMax: 128 * MIB,
  spillBytesMax: 64 * MIB,
  spillsBytesMax: 1024 * MIB,
};

function refusePort(): Promise<never> {
  return Promise.reject(new Error('There are no ports in memory'));
}

function refuseThread(): never {
  throw new Error('There are no threads of their own in this engine');
}

function refuseStore(): never {
  throw new Error('There are no stores in this engine: its threads are stand-ins');
}
