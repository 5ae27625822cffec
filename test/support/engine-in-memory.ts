// The whole engine between the sockets, as `src/engine.ts` builds it, on a clock that the test moves: real tables,
// real router, real built-in functions; sockets, threads, time and chance are stand-ins.

import { CallTable } from '../../src/core/call-table.ts';
import { Counters } from '../../src/core/counters.ts';
import { balanceBy, FunctionTable } from '../../src/core/function-table.ts';
import type { Balance } from '../../src/core/select-worker.ts';
import { TriggerTable } from '../../src/core/trigger-table.ts';
import { createLogger } from '../../src/effects/logger.ts';
import { engineModule } from '../../src/modules/engine/index.ts';
import type { EngineModule, ModuleContext, ModuleSettings } from '../../src/modules/module.ts';
import { SUBPROTOCOL_JSON } from '../../src/protocol/subprotocols.ts';
import { createAnnouncements } from '../../src/router/announcements.ts';
import { type BuiltinDefinition, ModuleExecutor } from '../../src/router/builtin.ts';
import { type ChannelSettings, Channels } from '../../src/router/channels.ts';
import type { RouterContext, RouterSettings } from '../../src/router/context.ts';
import { startHousekeeping } from '../../src/router/housekeeping.ts';
import { LargeFrames } from '../../src/router/large-frames.ts';
import { RouterPort } from '../../src/router/port.ts';
import { Router } from '../../src/router/router.ts';
import type { SessionLimits } from '../../src/router/session.ts';
import { FlushQueue } from '../../src/transport/outbox.ts';
import { FakeClock } from './fake-clock.ts';
import { FakePool } from './fake-pool.ts';
import { FakeSocket } from './fake-socket.ts';
import { FakeSpillFiles } from './fake-spill-file.ts';
import { SeededRandom } from './seeded-random.ts';
import { TestWorker } from './test-worker.ts';

const MIB = 1024 * 1024;

export interface InMemoryOptions {
  readonly settings?: Partial<RouterSettings>;
  /** Limits of every connection. */
  readonly limits?: Partial<SessionLimits>;
  readonly channels?: Partial<ChannelSettings>;
  readonly balance?: Balance | Readonly<Record<string, Balance>>;
  /** Functions beside those of the engine's own module. */
  readonly builtins?: readonly BuiltinDefinition[];
  readonly clock?: FakeClock;
  readonly random?: SeededRandom;
}

export interface ConnectOptions {
  /** It asked for a subprotocol of ours. */
  readonly ownSdk?: boolean;
  /** Limits of this connection alone. */
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
  readonly #limits: SessionLimits;
  readonly #stopHousekeeping: () => void;

  constructor(options: InMemoryOptions = {}) {
    this.clock = options.clock ?? new FakeClock();
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.context = buildContext(options, this.clock, this.spillFiles, (line) => this.logLines.push(line));
    this.port = new RouterPort(this.context);
    this.router = new Router(this.context, new FlushQueue(this.clock), new LargeFrames(this.pool));
    this.#plugIn(engineModule.create(this.moduleContext(), {}), options.builtins ?? []);
    this.#stopHousekeeping = startHousekeeping(this.context);
  }

  /** A worker connects and has read its greeting. */
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

  /** How often something was dropped, refused or late. */
  count(name: string, reason?: string): number {
    return this.context.counters.get(name, reason);
  }

  /** Ends the turn: frames leave. */
  flush(): void {
    this.clock.flush();
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.clock.advance(ms);
  }

  /** Lets everything that was promised and is ready be handled, then ends the turn. */
  async turn(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.clock.flush();
  }

  /** What a module of this engine is given. */
  moduleContext(): ModuleContext {
    return {
      router: this.port,
      connections: this.router,
      transport: { name: 'in memory', listen: () => Promise.reject(new Error('There are no ports in memory')) },
      settings: testModuleSettings(this.#limits),
      clock: this.clock,
      logger: this.context.logger,
      version: '0.0.0-test',
      modulesHealth: () => ({ 'svc-engine-functions': { status: 'healthy' } }),
    };
  }

  stop(): void {
    this.#stopHousekeeping();
  }

  #plugIn(module: EngineModule, builtins: readonly BuiltinDefinition[]): void {
    for (const handler of [...module.functions, ...builtins]) {
      const { id, description } = handler;
      const facts = { description, requestFormat: undefined, responseFormat: undefined, metadata: undefined };
      this.context.functions.addBuiltin({ kind: 'builtin', id, module: 'svc-engine-functions', facts, handler });
    }
    for (const type of module.triggerTypes) this.context.triggers.addModuleType(type.id, type.facts, type);
  }
}

/** What a module is told when nothing was configured. */
export function testModuleSettings(limits: SessionLimits = DEFAULT_LIMITS): ModuleSettings {
  return {
    bridgeToken: undefined,
    allowedHosts: [],
    trusted: { ...limits, frameBytes: 16 * MIB, connectionsMax: 10_000, connectionsPerSecondMax: 500 },
  };
}

const DEFAULT_CHANNELS: ChannelSettings = {
  channelsMax: 10_000,
  bufferBytesMax: MIB,
  buffersBytesMax: 128 * MIB,
  spillBytesMax: 64 * MIB,
  spillsBytesMax: 1024 * MIB,
};

function buildContext(
  options: InMemoryOptions,
  clock: FakeClock,
  spillFiles: FakeSpillFiles,
  write: (line: string) => void,
): RouterContext {
  const random = options.random ?? new SeededRandom(1);
  const logger = createLogger({ level: 'debug', format: 'default', clock, write });
  const counters = new Counters();
  const context: RouterContext = {
    settings: {
      isDropIn: false,
      inFlightMax: 65_536,
      outboundBytesMax: 512 * MIB,
      logPayloads: false,
      ...options.settings,
    },
    clock,
    random,
    logger,
    counters,
    functions: new FunctionTable(balanceBy(options.balance ?? 'least_in_flight')),
    triggers: new TriggerTable(),
    calls: new CallTable(random.uuid().slice(9, 23)),
    moduleExecutor: new ModuleExecutor(),
    sessions: new Map(),
    channels: new Channels({
      settings: { ...DEFAULT_CHANNELS, ...options.channels },
      clock,
      random,
      logger,
      counters,
      openSpillFile: spillFiles.open,
    }),
    verdicts: new Map(),
    announce: createAnnouncements(() => context),
    startedAtMs: clock.nowMs(),
    isDraining: false,
    isStopped: false,
  };
  return context;
}
