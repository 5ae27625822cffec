// The interface of a module. The engine treats all modules alike.

import type { Config, ConfigSchema } from '../console/api/system.ts';
import type { ChannelShareLimits } from '../core/channels/channel-share.ts';
import type { ClusterStatus } from '../core/cluster/status.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import type { ConnectionLimits } from '../core/limits/connection-counts.ts';
import type { MessageRateLimits } from '../core/limits/message-rate.ts';
import type { ProcessCounts } from '../core/limits/process-counts.ts';
import type { NewEntry, ProjectWorker } from '../core/workers/worker-manifest.ts';
import type { Trust } from '../effects/certificates.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OpenFiles } from '../effects/open-files.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { Random } from '../effects/random.ts';
import type { OwnThread, Pool } from '../effects/threads/pool.ts';
import type { AnyBuiltin, ModuleTriggerType } from '../router/builtin.ts';
import type { RouterPort } from '../router/port.ts';
import type { Router } from '../router/router.ts';
import type { SessionLimits } from '../router/session/session.ts';
import type { StoreRegistry } from '../store/directory/registry.ts';
import type { PortSharing, Transport } from '../transport/transport.ts';
import type { PassedHttp } from './passed-http.ts';
import type { ReservedPaths } from './reserved-paths.ts';
import type { SharedState } from './shared-state.ts';
import type { SharedStreams } from './shared-streams.ts';
import type { Taps } from './taps.ts';

/** One entry of `modules/catalogue.ts`. */
export interface ModuleDefinition {
  readonly declaration: ModuleDeclaration;
  /** `config` is the file's entry, read by the declaration's schema. */
  create(context: ModuleContext, config: unknown, adapter?: ChosenAdapter): EngineModule;
}

/** The adapter that the file chooses, or the module's default; only modules with adapters have it (K2). */
export interface ChosenAdapter {
  readonly name: string;
  readonly config: unknown;
}

/** What a module may use of the engine. */
export interface ModuleContext {
  readonly router: RouterPort;
  /** Accepts worker connections; for modules that listen for them. */
  readonly connections: Pick<Router, 'connect' | 'isKnownElsewhere'>;
  /** The stores of data; requested while the module is built, open when it starts. */
  readonly stores: Pick<StoreRegistry, 'open' | 'backUp' | 'durable'>;
  readonly transport: Transport;
  readonly settings: ModuleSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
  /** Checked before a connection is accepted. */
  readonly openFiles: OpenFiles;
  /** The answers of the HTTP port below `/_console/`. */
  readonly reservedPaths: ReservedPaths;
  /** For limits that hold for all routers together. */
  readonly processCounts: ProcessCounts;
  /** HTTP requests that another router of the process answers. */
  readonly passedHttp: PassedHttp;
  /** For state that further routers of the process read and write. */
  readonly sharedState: SharedState;
  /** For stream ports of further routers of the process. */
  readonly sharedStreams: SharedStreams;
  readonly taps: Taps;
  readonly engine: EngineInfo;
  /** Runs work that must not block the router's thread. */
  readonly threads: ModuleThreads;
  /** Sends requests to addresses that users configured (X16 to X18). */
  readonly outgoing: Pick<OutgoingClient, 'send'>;
  /** The environment variables of the engine. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Health of every module by name. */
  readonly modulesHealth: () => Readonly<Record<string, ModuleHealth>>;
  readonly configuration: RunningConfiguration;
  /** Absent: the engine is alone. */
  readonly cluster?: ClusterView | undefined;
}

/** The engines that act as one with this one. */
export interface ClusterView {
  /** Why others cannot be reached, or what weakens the cluster. */
  readonly trouble: string | undefined;
  /** Why nothing can be agreed on now. */
  readonly away: string | undefined;
  status(): ClusterStatus;
  keys(kind: 'ticks' | 'schedules'): Promise<SharedKeysView>;
  /** Opened once. */
  triggers(): Promise<SharedTriggersView>;
}

/** Triggers without an owner, as text by id, which all engines keep together. */
export interface SharedTriggersView {
  /** `changed`: called for each that is there, and for each change; `undefined`: it is gone. */
  follow(changed: (id: string, value: string | undefined) => void): Promise<void>;
  refusalOf(value: string): string | undefined;
  /** Rejects where it is unknown whether it is kept. */
  keep(id: string, value: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Keys that the engines of a cluster claim or remember together. A key is one or several names. */
export interface SharedKeysView {
  /** Whether this engine is the first to claim the key. Rejects where that is unknown. */
  claim(...names: readonly string[]): Promise<boolean>;
  read(...names: readonly string[]): Promise<string | undefined>;
  write(value: string, ...names: readonly string[]): Promise<void>;
  /** `next`: the new value, or `undefined` to leave it. Resolves with whether it was replaced by this engine. */
  exchange(next: (value: string | undefined) => string | undefined, ...names: readonly string[]): Promise<boolean>;
}

/** The configuration that the engine runs on, and its file. */
export interface RunningConfiguration {
  /** Absolute; `undefined` for the built-in defaults. */
  readonly file: string | undefined;
  /** Workers that the engine starts. */
  readonly projectWorkers: readonly ProjectWorker[];
  /** Why the last reload changed nothing; `undefined` after one that worked, or none. */
  readonly problem: string | undefined;
  /** The addresses of everything that listens. */
  listeners(): readonly ListenerAddress[];
  /** Changes the file and reloads; rejects with a `Refusal`, and then the file is unchanged. */
  addEntry(entry: NewEntry): Promise<void>;
  /** Resolves with whether it existed. */
  removeEntry(name: string): Promise<boolean>;
  /** Reads the file again and runs on it, or changes nothing at all (K1). */
  reload(): Promise<ReloadReport>;
  /** The callback is called after every reload that changed something. */
  onReload(listener: () => void): void;
}

export type ReloadReport =
  | { readonly ok: true; readonly changes: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The answer of a running module to a new configuration. */
export type Reconfiguration =
  | {
      readonly ok: true;
      /** The changes inside the module, for the report of the reload. */
      readonly changes?: readonly string[];
      /** Uses the new configuration from now on. Must not fail. */
      commit(): void;
    }
  | { readonly ok: false; readonly reason: string };

export interface ModuleThreads {
  /** A thread that runs one file of `workers/` and does not end while the engine runs. */
  own<Task, Answer>(task: string, isAwake?: boolean): OwnThread<Task, Answer>;
  readonly evaluateAlerts: Pool['evaluateAlerts'];
  readonly evaluateUpdate: Pool['evaluateUpdate'];
}

/** Facts that only the engine as a whole knows. */
export interface EngineInfo {
  /** The names of all modules, loaded or not. */
  readonly knownModules: readonly string[];
  config(): Config;
  configSchema(): ConfigSchema;
}

/** Top-level settings that concern more than one module. */
export interface ModuleSettings {
  /** Whether to answer as `iii` does where our own behaviour differs (PD-1). */
  readonly isDropIn: boolean;
  readonly bridgeToken: string | undefined;
  readonly allowedHosts: readonly string[];
  /** Addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** Other routers of this process listen on the same ports. */
  readonly portSharing: PortSharing | undefined;
  readonly http: HttpLimits;
  readonly trusted: SessionLimits & ConnectionLimits & { readonly frameBytes: number };
  readonly browser: BrowserLimits;
  readonly stream: StreamLimits;
}

export interface HttpLimits {
  readonly connectionsMax: number;
  readonly bodyBuffersBytesMax: number;
  readonly answerBuffersBytesMax: number;
}

/** The limits of ports with `rbac`. */
export interface BrowserLimits extends SessionLimits, ConnectionLimits {
  readonly frameBytes: number;
  readonly perAddress: ConnectionLimits;
  readonly messages: MessageRateLimits;
  /** Of one connection. */
  readonly channels: ChannelShareLimits;
  readonly authCalls: number;
  readonly askMs: number;
  readonly registrationMs: number;
  readonly maxAgeMs: number;
}

/** The limits of the stream server. */
export interface StreamLimits extends ConnectionLimits {
  readonly frameBytes: number;
  readonly perAddress: ConnectionLimits;
  /** New connections that the auth function checks at the same time. */
  readonly authCalls: number;
  /** For the auth function and handlers of `stream:join`. */
  readonly askMs: number;
  /** For the first join after the upgrade. */
  readonly registrationMs: number;
  readonly outboundBufferBytes: number;
  readonly outboundMessages: number;
  readonly messages: MessageRateLimits;
  /** Of one connection. */
  readonly subscriptions: number;
  /** Of one item. */
  readonly valueBytes: number;
  readonly historyEvents: number;
  readonly historyMs: number;
  readonly historyBytes: number;
  /** Unread bytes of all connections together. */
  readonly allBuffersBytes: number;
}

/** `C`: the type that its declaration reads the file's entry as. */
export interface EngineModule<C = unknown> {
  readonly functions: readonly AnyBuiltin[];
  readonly triggerTypes: readonly ModuleTriggerType[];
  /** Acquires its external resources: ports, files. Rejects if it cannot; then nothing of it may remain. */
  start(): Promise<void>;
  /** Everything runs and listens. */
  started?(): void;
  /**
   * The file's entry has changed. A module without this method can only change with a restart of the engine, and a
   * reload reports that.
   */
  reconfigure?(config: C): Promise<Reconfiguration>;
  /** A reload did not change the file's entry: reads the other files that it names again. */
  refresh?(): Promise<Reconfiguration>;
  /** The engine is stopping: accept nothing new. */
  drain(): void;
  /** Releases everything. Called once, after the drain, or after a failed start of another module. */
  stop(): void;
  /** Called after `stop`, for slow clean-up: limits its own time (G1), never rejects. */
  close?(): Promise<void>;
  health(): ModuleHealth;
  /** The addresses it listens on, for the start banner. */
  listeners(): readonly ListenerAddress[];
}

export interface ListenerAddress {
  readonly name: string;
  readonly address: string;
  /** For `wss://` and `https://`. */
  readonly tls?: Trust;
}

export interface ModuleHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly adapter?: string;
  readonly details?: unknown;
  /** Shown by `engine::health::check` next to the modules. */
  readonly components?: Readonly<Record<string, ComponentHealth>>;
}

export interface ComponentHealth {
  readonly status: ModuleHealth['status'] | 'disabled';
  /** null: disabled. */
  readonly details: unknown;
}

/** The methods of a module without external resources. */
export const HOLDS_NOTHING = {
  async start(): Promise<void> {},
  drain(): void {},
  stop(): void {},
  listeners: (): readonly ListenerAddress[] => [],
};

/** Ties a module's code to the type of its configuration. */
export function defineModule<C>(definition: {
  readonly declaration: ModuleDeclaration<C>;
  create(context: ModuleContext, config: C, adapter?: ChosenAdapter): EngineModule<C>;
}): ModuleDefinition {
  return {
    declaration: definition.declaration,
    // The loader has checked the value against this declaration; the list of modules cannot carry the type.
    create: (context, config, adapter) => definition.create(context, config as C, adapter),
  };
}

/** The adapter's config if that adapter was chosen. The loader has checked it against this declaration. */
export function adapterConfig<C>(chosen: ChosenAdapter | undefined, declaration: AdapterDeclaration<C>): C | undefined {
  return chosen?.name === declaration.name ? (chosen.config as C) : undefined;
}
