// The shape of a module: the furniture every room of the engine has. The engine asks no module which one it is.

import type { Config, ConfigSchema } from '../console-api/system.ts';
import type { AddressLimits } from '../core/address-gate.ts';
import type { GateLimits } from '../core/connection-gate.ts';
import type { MessageRateLimits } from '../core/message-rate.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../core/module-declaration.ts';
import type { NewEntry, ProjectWorker } from '../core/worker-manifest.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OpenFiles } from '../effects/open-files.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { OwnThread, Pool } from '../effects/pool.ts';
import type { Random } from '../effects/random.ts';
import type { AnyBuiltin, ModuleTriggerType } from '../router/builtin.ts';
import type { RouterPort } from '../router/port.ts';
import type { Router } from '../router/router.ts';
import type { SessionLimits } from '../router/session.ts';
import type { StoreRegistry } from '../store/registry.ts';
import type { Transport } from '../transport/socket.ts';
import type { ReservedPaths } from './reserved-paths.ts';
import type { Taps } from './taps.ts';

/** One entry of `modules/catalogue.ts`. */
export interface ModuleDefinition {
  readonly declaration: ModuleDeclaration;
  /** `config` is what the declaration's schema made of the file. */
  create(context: ModuleContext, config: unknown, adapter?: ChosenAdapter): EngineModule;
}

/** The adapter that the file asks for, or the module's default; only modules that take one have it (K2). */
export interface ChosenAdapter {
  readonly name: string;
  readonly config: unknown;
}

/** What a module may use of the engine. */
export interface ModuleContext {
  readonly router: RouterPort;
  /** Where worker connections go; for modules that accept them. */
  readonly connections: Pick<Router, 'connect'>;
  /** Where data is kept; asked for while the module is built, open when it starts. */
  readonly stores: Pick<StoreRegistry, 'open' | 'backUp' | 'durable'>;
  readonly transport: Transport;
  readonly settings: ModuleSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
  /** What accepts connections asks here first. */
  readonly openFiles: OpenFiles;
  /** What the HTTP port answers below `/_console/`. */
  readonly reservedPaths: ReservedPaths;
  readonly taps: Taps;
  readonly engine: EngineFacts;
  /** Where work goes that must not hold the router's thread. */
  readonly threads: ModuleThreads;
  /** Requests to where users told the engine to send them (X16 to X18). */
  readonly outgoing: Pick<OutgoingClient, 'send'>;
  /** The variables that the engine was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Health of every module by name. */
  readonly modulesHealth: () => Readonly<Record<string, ModuleHealth>>;
  readonly configuration: RunningConfiguration;
}

/** The configuration that the engine runs on, and the file it came from. */
export interface RunningConfiguration {
  /** Absolute; `undefined` for the built-in defaults. */
  readonly file: string | undefined;
  /** Workers that the engine is to start. */
  readonly projectWorkers: readonly ProjectWorker[];
  /** Why the last reload changed nothing; `undefined` after one that worked, or none. */
  readonly problem: string | undefined;
  /** Addresses of everything that listens. */
  listeners(): readonly ListenerFacts[];
  /** Changes the file and reloads; rejects with a `Refusal`, and then the file is as it was. */
  addEntry(entry: NewEntry): Promise<void>;
  /** Resolves with whether there was one. */
  removeEntry(name: string): Promise<boolean>;
  /** Reads the file again and runs on it, or changes nothing at all (K1). */
  reload(): Promise<ReloadReport>;
  /** Told after every reload that changed something. */
  onReload(tell: () => void): void;
}

export type ReloadReport =
  | { readonly ok: true; readonly changes: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** What a running module says to another configuration of itself. */
export type Reconfiguration =
  | {
      readonly ok: true;
      /** What changes inside of it, for whoever asked. */
      readonly changes?: readonly string[];
      /** Runs on the new one from now on. Must not fail. */
      commit(): void;
    }
  | { readonly ok: false; readonly reason: string };

export interface ModuleThreads {
  /** A thread that runs one file of `workers/` and is never ended while the engine runs. */
  own<Task, Answer>(task: string, isAwake?: boolean): OwnThread<Task, Answer>;
  readonly evaluateAlerts: Pool['evaluateAlerts'];
}

/** What only the engine as a whole knows, for whoever shows it. */
export interface EngineFacts {
  /** Every module that there is, by name, loaded or not. */
  readonly knownModules: readonly string[];
  config(): Config;
  configSchema(): ConfigSchema;
}

/** Top-level settings that concern more than one module. */
export interface ModuleSettings {
  /** Answer as the peer does wherever our own behaviour differs (decisions 1). */
  readonly isDropIn: boolean;
  readonly bridgeToken: string | undefined;
  readonly allowedHosts: readonly string[];
  /** Addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
  readonly http: { readonly connectionsMax: number; readonly bodyBuffersBytesMax: number };
  readonly trusted: SessionLimits & GateLimits & { readonly frameBytes: number };
  readonly browser: BrowserLimits;
  readonly stream: StreamLimits;
}

/** Of ports with `rbac`. */
export interface BrowserLimits extends SessionLimits, GateLimits {
  readonly frameBytes: number;
  readonly perAddress: AddressLimits;
  readonly messages: MessageRateLimits;
  readonly authCalls: number;
  readonly askMs: number;
  readonly registrationMs: number;
  readonly maxAgeMs: number;
}

/** Of the stream server. */
export interface StreamLimits extends GateLimits {
  readonly frameBytes: number;
  readonly perAddress: AddressLimits;
  /** Newcomers whom the auth function looks at. */
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

/** `C`: what its declaration makes of the file. */
export interface EngineModule<C = unknown> {
  readonly functions: readonly AnyBuiltin[];
  readonly triggerTypes: readonly ModuleTriggerType[];
  /** Takes what it needs of the world: ports, files. Rejects if it cannot; then nothing of it may be left. */
  start(): Promise<void>;
  /** Everything runs and listens. */
  started?(): void;
  /**
   * The file says something else of it now. Without this verb the module can only change with a new start of the
   * engine, and says so.
   */
  reconfigure?(config: C): Promise<Reconfiguration>;
  /** The engine is stopping: accept nothing new. */
  drain(): void;
  /** Releases everything. Called once, after the drain, or after a failed start of another module. */
  stop(): void;
  /** After `stop`, of what takes time to end: bounds itself (G1), never rejects. */
  close?(): Promise<void>;
  health(): ModuleHealth;
  /** The addresses it listens on, for the start banner. */
  listeners(): readonly ListenerFacts[];
}

export interface ListenerFacts {
  readonly name: string;
  readonly address: string;
}

export interface ModuleHealth {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly adapter?: string;
  readonly details?: unknown;
  /** Shown by `engine::health::check` beside the modules. */
  readonly components?: Readonly<Record<string, ComponentHealth>>;
}

export interface ComponentHealth {
  readonly status: ModuleHealth['status'] | 'disabled';
  /** null: disabled. */
  readonly details: unknown;
}

/** The verbs of a module that holds nothing of the outside world. */
export const HOLDS_NOTHING = {
  async start(): Promise<void> {},
  drain(): void {},
  stop(): void {},
  listeners: (): readonly ListenerFacts[] => [],
};

/** Ties a module's code to the type of its configuration. */
export function defineModule<C>(definition: {
  readonly declaration: ModuleDeclaration<C>;
  create(context: ModuleContext, config: C, adapter?: ChosenAdapter): EngineModule<C>;
}): ModuleDefinition {
  return {
    declaration: definition.declaration,
    // The loader has checked the value against this very declaration; the list of modules cannot carry the type.
    create: (context, config, adapter) => definition.create(context, config as C, adapter),
  };
}

/** The adapter's config if that adapter was chosen. The loader has checked it against this very declaration. */
export function adapterConfig<C>(chosen: ChosenAdapter | undefined, declaration: AdapterDeclaration<C>): C | undefined {
  return chosen?.name === declaration.name ? (chosen.config as C) : undefined;
}
