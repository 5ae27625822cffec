// The module of the worker ports on a transport without a network: the test is both ends of it.

import { checkValue } from '../../../src/core/config-fields/fields-check.ts';
import type { ConnectionLimits } from '../../../src/core/limits/connection-counts.ts';
import { PRESSURE } from '../../../src/core/limits/pressure.ts';
import type { EngineModule, ModuleSettings, Reconfiguration } from '../../../src/modules/module.ts';
import { PortAdmission } from '../../../src/modules/port-admission.ts';
import { workerManagerDeclaration } from '../../../src/modules/worker-manager/config.ts';
import { workerManagerModule } from '../../../src/modules/worker-manager/index.ts';
import type { Admission, PendingAdmission, SocketEvents, UpgradeRequest } from '../../../src/transport/socket.ts';
import type { ListenOptions } from '../../../src/transport/transport.ts';
import { TestWorker } from '../clients/test-worker.ts';
import { FakeSocket } from '../fakes/fake-socket.ts';
import { EngineInMemory, type InMemoryOptions, testModuleSettings } from './engine-in-memory.ts';

export interface Dialling {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly subprotocols?: readonly string[];
  readonly from?: string;
}

export interface PortOptions {
  /** The settings below `config` of the file. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly limits?: Partial<ModuleSettings['trusted']>;
  readonly browser?: Partial<ModuleSettings['browser']>;
  readonly settings?: Partial<Pick<ModuleSettings, 'bridgeToken' | 'trustedProxies' | 'allowedHosts'>>;
  /** Opens several ports of one engine. */
  readonly engine?: EngineInMemory;
  readonly memory?: InMemoryOptions;
}

export interface Connected {
  readonly socket: FakeSocket;
  readonly events: SocketEvents;
}

export class TestPort {
  readonly engine: EngineInMemory;
  readonly module: EngineModule;
  readonly settings: ModuleSettings;
  isAccepting = true;
  #options: ListenOptions | undefined;

  private constructor(options: PortOptions) {
    const usual = testModuleSettings();
    this.engine = options.engine ?? new EngineInMemory(options.memory);
    this.settings = {
      ...usual,
      ...options.settings,
      trusted: { ...usual.trusted, ...options.limits },
      browser: { ...usual.browser, ...options.browser },
    };
    const unneeded = this.engine.moduleContext();
    const transport = { ...unneeded.transport, listen: async (listen: ListenOptions) => this.#listen(listen) };
    const context = { ...unneeded, settings: this.settings, transport };
    this.module = workerManagerModule.create(context, configFrom(options.config));
  }

  static async open(options: PortOptions = {}): Promise<TestPort> {
    const port = new TestPort(options);
    await port.module.start();
    return port;
  }

  /** Reloads the port with other settings below `config` of the file. */
  async reconfigure(config: Readonly<Record<string, unknown>>): Promise<Reconfiguration> {
    const answer = await this.module.reconfigure?.(configFrom(config));
    if (answer === undefined) throw new Error('The port takes no other configuration');
    return answer;
  }

  get options(): ListenOptions {
    if (this.#options === undefined) throw new Error('The port does not listen');
    return this.#options;
  }

  /** The immediate answer of the port. */
  ask(path: string, dialling: Dialling = {}): Admission {
    const answer = this.knock(path, dialling);
    if ('verdict' in answer) throw new Error('The port takes its time to answer');
    return answer;
  }

  knock(path = '/', { query = '', subprotocols = [], from = '10.0.0.7', ...rest }: Dialling = {}) {
    return this.options.admit(requestOf({ path, query, subprotocols, remoteAddress: from }, rest.headers));
  }

  /** The final answer of the port. */
  async verdict(path = '/', dialling: Dialling = {}): Promise<Admission> {
    const answer: Admission | PendingAdmission = this.knock(path, dialling);
    return 'verdict' in answer ? await answer.verdict : answer;
  }

  dial(path: string, dialling: Dialling = {}): Connected {
    return this.enter(this.ask(path, dialling), path, dialling);
  }

  /** An admitted worker, after its greeting. */
  async worker(dialling: Dialling = {}): Promise<TestWorker> {
    const { socket, events } = this.enter(await this.verdict('/', dialling), '/', dialling);
    const { clock, context } = this.engine;
    return new TestWorker({ clock, socket, events, nextId: () => context.random.uuid() });
  }

  enter(admission: Admission, path = '/', { from = '10.0.0.7' }: Dialling = {}): Connected {
    if (!admission.ok) throw new Error(`Not let in: ${admission.status} ${admission.text}`);
    const socket = new FakeSocket();
    const { subprotocol, connected = this.options.connected } = admission;
    const events = connected(socket, { path, remoteAddress: from, subprotocol });
    socket.whenEnded = (code) => events.closed(code);
    return { socket, events };
  }

  #listen(options: ListenOptions) {
    this.#options = options;
    const stopAccepting = (): void => {
      this.isAccepting = false;
    };
    return { host: '127.0.0.1', port: 51_234, stopAccepting, close: () => {}, prepareTls: () => () => {} };
  }
}

function configFrom(config: Readonly<Record<string, unknown>> = {}): unknown {
  const checked = checkValue(workerManagerDeclaration.config, config);
  if (!checked.ok) throw new Error(checked.problems.map(({ message }) => message).join('\n'));
  return checked.value;
}

/** A request as a transport hands it over; it comes from this machine unless it says otherwise. */
export function requestOf(
  fields: Partial<Omit<UpgradeRequest, 'header' | 'list' | 'headers'>> = {},
  headers: Readonly<Record<string, string | undefined>> = {},
): UpgradeRequest {
  const given = Object.entries({ host: 'localhost:49134', ...headers });
  const all = new Map(given.filter((one): one is [string, string] => one[1] !== undefined));
  return {
    path: '/',
    query: '',
    remoteAddress: '127.0.0.1',
    subprotocols: [],
    header: (name) => all.get(name),
    list: (name) => all.get(name),
    headers: () => all,
    ...fields,
  };
}

/** Enough for any test that is not about limits. */
export const NO_LIMITS: ConnectionLimits = { connectionsMax: 100, connectionsPerSecondMax: 100 };

/** Admission to a port of an engine that does nothing else. */
export function admissionOf(limits: ConnectionLimits, engine = { isDraining: false }): PortAdmission {
  return new PortAdmission({
    clock: { monotonicMs: () => 0, every: () => () => {} },
    engine: Object.assign(engine, { pressure: { level: PRESSURE.normal } }),
    limits,
    perAddress: undefined,
    trustedProxies: [],
  });
}
